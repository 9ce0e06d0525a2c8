def as_package(name, written):
    return written
