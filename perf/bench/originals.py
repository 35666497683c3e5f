# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dims and nonzeros of the tensors that look-alikes resemble, by the names of `sporades generate
--like`."""

ORIGINALS = {
    # FROSTT
    "uber": ((183, 24, 1140, 1717), 3309490),
    "nell-2": ((12092, 9184, 28818), 76879419),
    "nips": ((2482, 2862, 14036, 17), 3101609),
    "chicago-crime": ((6186, 24, 77, 32), 5330673),
    "vast-2015": ((165427, 11374, 2, 100, 89), 26021945),
    "nell-1": ((2902330, 2143368, 25495389), 143599552),
    "delicious-3d": ((532924, 17262471, 2480308), 140126181),
    "delicious-4d": ((532924, 17262471, 2480308, 1443), 140126181),
    "enron": ((6066, 5699, 244268, 1176), 54202099),
    "flickr": ((319686, 28153045, 1607191, 731), 112890310),
    "lbnl-network": ((1605, 4198, 1631, 4209, 868131), 1698825),
    "freebase-music": ((23344784, 23344784, 166), 99546551),
    # as Ma et al. (2018), table 3, round them
    "freebase-sampled": ((39000000, 39000000, 532), 140000000),
    "choa": ((712000, 10000, 767), 27000000),
    # as Wijeratne et al. (2024), table 3, round them
    "amazon-ratings": ((15200000, 43500000, 7800), 233100000),
    "twitch": ((15500000, 6200000, 783900, 6100, 6100), 474700000),
    # Yang, Li & Li (2019), table 3
    "user-rated-movies": ((71534, 65133, 60), 855598),
    "user-tagged-movies": ((71534, 65133, 31), 47957),
    "user-tagged-bookmarks": ((108035, 107253, 31), 437593),
    "user-tagged-artists": ((2100, 18745, 60), 186479),
    "ratings-m1": ((6040, 3952, 31), 1000209),
    "ratings-m20": ((71567, 130642, 31), 1048575),
    "user-shopping-x10": ((100208, 10147, 10000), 9999998),
    "user-shopping-x22": ((100208, 10392, 2000), 19999898),
    "user-shopping-x40": ((100208, 10504, 1000), 29999529),
}
