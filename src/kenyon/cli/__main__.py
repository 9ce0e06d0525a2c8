from kenyon.cli import main

main()
