"""Class names, in the publishers' label order."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DIGITS = tuple("0123456789")
UPPER = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LOWER = tuple("abcdefghijklmnopqrstuvwxyz")
# lower-case letters that look unlike their capitals; the others are merged with them
EMNIST_MERGED = (*DIGITS, *UPPER, *"abdefghnqrt")
FASHION = ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
ACTIVITIES = _words(
    """walking walking_upstairs walking_downstairs sitting standing laying stand_to_sit sit_to_stand sit_to_lie
    lie_to_sit stand_to_lie lie_to_stand"""
)
GASES = _words("ethanol ethylene ammonia acetaldehyde acetone toluene")
CIFAR10 = _words("airplane automobile bird cat deer dog frog horse ship truck")
CIFAR100 = _words(
    """apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can
    castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin
    elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster
    man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck
    pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk
    skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger
    tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm"""
)
CIFAR100_COARSE = _words(
    """aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices
    household_furniture insects large_carnivores large_man-made_outdoor_things large_natural_outdoor_scenes
    large_omnivores_and_herbivores medium_mammals non-insect_invertebrates people reptiles small_mammals trees
    vehicles_1 vehicles_2"""
)
SUBCLASSES = tuple(f"subclass{number}" for number in range(1, 6))
"""The classes of each superclass of CIFAR-100, in the order of their numbers."""
