// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Kind, Material, Pattern, Shape} from "./Shapes.sol";
import {ONE, Vector, cosine, sine, times} from "./Vectors.sol";

struct Lamp {
    Vector place;
    Vector colour;
}

/// A table with things on it: spheres of glass and metal, a tower, a pyramid, eggs, tents, a ring of pearls.
library Scene {
    uint256 private constant PEARLS = 6;

    function shapes() internal pure returns (Shape[] memory all) {
        all = new Shape[](22 + PEARLS);
        Vector memory none;
        Material memory floor =
            Material(Vector(9e8, 9e8, 85e7), Vector(15e7, 17e7, 25e7), Pattern.Checks, 25e7, 0, 1e8);
        Material memory chrome = Material(Vector(82e7, 86e7, 9e8), none, Pattern.Plain, 85e7, 0, 9e8);
        Material memory glass = Material(Vector(95e7, 1e9, 97e7), none, Pattern.Plain, 1e8, 85e7, 9e8);
        Material memory stone =
            Material(Vector(75e7, 7e8, 65e7), Vector(3e8, 25e7, 35e7), Pattern.Marble, 5e7, 0, 3e8);
        Material memory target =
            Material(Vector(85e7, 2e8, 15e7), Vector(95e7, 92e7, 9e8), Pattern.Rings, 1e8, 0, 4e8);
        Material memory brass = Material(Vector(8e8, 6e8, 2e8), none, Pattern.Plain, 5e8, 0, 8e8);
        Material memory wall =
            Material(Vector(55e7, 25e7, 2e8), Vector(6e8, 58e7, 55e7), Pattern.Bricks, 0, 0, 5e7);

        all[0] = Shape(Kind.Plane, Vector(0, -1e9, 0), Vector(0, ONE, 0), none, 0, floor);
        all[1] = Shape(Kind.Plane, Vector(0, 0, 14e9), Vector(0, 0, -ONE), none, 0, wall);
        all[2] = Shape(Kind.Sphere, Vector(-22e8, 2e8, 6e9), none, none, 12e8, chrome);
        all[3] = Shape(Kind.Sphere, Vector(6e8, -1e8, 46e8), none, none, 9e8, glass);
        all[4] = Shape(Kind.Sphere, Vector(28e8, 3e8, 75e8), none, none, 13e8, stone);
        all[5] = Shape(Kind.Box, Vector(-5e9, -1e9, 8e9), Vector(-35e8, 2e9, 95e8), none, 0, stone);
        all[6] = Shape(Kind.Box, Vector(-47e8, 2e9, 83e8), Vector(-38e8, 26e8, 92e8), none, 0, brass);
        all[7] = Shape(Kind.Disc, Vector(0, 28e8, 139e8), Vector(0, 0, -ONE), none, 18e8, target);
        all[8] = Shape(Kind.Disc, Vector(45e8, 2e9, 12e9), Vector(-6e8, 0, -8e8), none, 15e8, chrome);
        all[9] = Shape(Kind.Cylinder, Vector(-6e8, -1e9, 85e8), Vector(0, 5e8, 0), none, 6e8, brass);
        all[10] = Shape(Kind.Disc, Vector(-6e8, 5e8, 85e8), Vector(0, ONE, 0), none, 6e8, target);
        all[11] = Shape(Kind.Sphere, Vector(-6e8, 9e8, 85e8), none, none, 4e8, glass);
        pyramid(all, 12, Vector(5e9, -1e9, 6e9), 12e8, 22e8, brass);
        pearls(all, 16, Vector(6e8, -75e7, 46e8), chrome);
        furniture(all, 16 + PEARLS, glass, stone, brass);
    }

    function lamps() internal pure returns (Lamp[] memory all) {
        all = new Lamp[](3);
        all[0] = Lamp(Vector(-6e9, 8e9, -2e9), Vector(75e7, 7e8, 6e8));
        all[1] = Lamp(Vector(7e9, 5e9, 1e9), Vector(3e8, 35e7, 5e8));
        all[2] = Lamp(Vector(5e8, 9e9, 9e9), Vector(25e7, 25e7, 2e8));
    }

    /// Eggs and tents, and two steps of stone before the tower.
    function furniture(
        Shape[] memory all,
        uint256 first,
        Material memory glass,
        Material memory stone,
        Material memory brass
    ) private pure {
        Vector memory none;
        all[first] = Shape(Kind.Egg, Vector(-34e8, -4e8, 38e8), Vector(6e8, 6e8, 9e8), none, 0, stone);
        all[first + 1] = Shape(Kind.Egg, Vector(22e8, -55e7, 38e8), Vector(8e8, 45e7, 45e7), none, 0, glass);
        all[first + 2] = Shape(Kind.Cone, Vector(-9e8, 6e8, 33e8), Vector(45e7, -1e9, 0), none, 0, brass);
        all[first + 3] = Shape(Kind.Cone, Vector(7e9, 25e8, 10e9), Vector(6e8, -1e9, 0), none, 0, stone);
        all[first + 4] = Shape(Kind.Box, Vector(-52e8, -1e9, 76e8), Vector(-33e8, -6e8, 8e9), none, 0, stone);
        all[first + 5] = Shape(Kind.Box, Vector(-52e8, -1e9, 72e8), Vector(-33e8, -8e8, 76e8), none, 0, stone);
    }

    /// Four triangles from a square on the floor to a point above it.
    function pyramid(Shape[] memory all, uint256 first, Vector memory foot, int256 half, int256 height, Material memory material)
        private
        pure
    {
        Vector memory top = Vector(foot.x, foot.y + height, foot.z);
        Vector[4] memory corners = [
            Vector(foot.x - half, foot.y, foot.z - half),
            Vector(foot.x + half, foot.y, foot.z - half),
            Vector(foot.x + half, foot.y, foot.z + half),
            Vector(foot.x - half, foot.y, foot.z + half)
        ];
        for (uint256 i = 0; i < 4; ++i) {
            all[first + i] = Shape(Kind.Triangle, corners[i], top, corners[(i + 1) % 4], 0, material);
        }
    }

    function pearls(Shape[] memory all, uint256 first, Vector memory centre, Material memory material) private pure {
        Vector memory none;
        for (uint256 i = 0; i < PEARLS; ++i) {
            int256 angle = (int256(i) * 6_283185307) / int256(PEARLS);
            Vector memory place =
                Vector(centre.x + times(cosine(angle), 16e8), centre.y, centre.z + times(sine(angle), 16e8));
            all[first + i] = Shape(Kind.Sphere, place, none, none, 25e7, material);
        }
    }
}
