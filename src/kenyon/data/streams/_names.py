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
TINY_IMAGENET = _words(
    """goldfish european_fire_salamander bullfrog tailed_frog american_alligator boa_constrictor trilobite scorpion
    black_widow tarantula centipede goose koala jellyfish brain_coral snail slug sea_slug american_lobster
    spiny_lobster black_stork king_penguin albatross dugong chihuahua yorkshire_terrier golden_retriever
    labrador_retriever german_shepherd standard_poodle tabby persian_cat egyptian_cat cougar lion brown_bear
    ladybug fly bee grasshopper walking_stick cockroach mantis dragonfly monarch sulphur_butterfly sea_cucumber
    guinea_pig hog ox bison bighorn gazelle arabian_camel orangutan chimpanzee baboon african_elephant
    lesser_panda abacus academic_gown altar apron backpack bannister barbershop barn barrel basketball bathtub
    beach_wagon beacon beaker beer_bottle bikini binoculars birdhouse bow_tie brass broom bucket bullet_train
    butcher_shop candle cannon cardigan cash_machine cd_player chain chest christmas_stocking cliff_dwelling
    computer_keyboard confectionery convertible crane dam desk dining_table drumstick dumbbell flagpole fountain
    freight_car frying_pan fur_coat gasmask go-kart gondola hourglass ipod jinrikisha kimono lampshade lawn_mower
    lifeboat limousine magnetic_compass maypole military_uniform miniskirt moving_van nail neck_brace obelisk oboe
    organ parking_meter pay-phone picket_fence pill_bottle plunger pole police_van poncho pop_bottle potters_wheel
    projectile punching_bag reel refrigerator remote_control rocking_chair rugby_ball sandal school_bus scoreboard
    sewing_machine snorkel sock sombrero space_heater spider_web sports_car steel_arch_bridge stopwatch sunglasses
    suspension_bridge swimming_trunks syringe teapot teddy thatch torch tractor triumphal_arch trolleybus
    turnstile umbrella vestment viaduct volleyball water_jug water_tower wok wooden_spoon comic_book plate
    guacamole ice_cream ice_lolly pretzel mashed_potato cauliflower bell_pepper mushroom orange lemon banana
    pomegranate meat_loaf pizza potpie espresso alp cliff coral_reef lakeside seashore acorn"""
)
