// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Lamp, Scene} from "./Scene.sol";
import {Hit, Kind, Material, Pattern, Ray, Shape, Shapes} from "./Shapes.sol";
import {ONE, Vector, Vectors, larger, over, power, root, sine, cosine, size, smaller, times} from "./Vectors.sol";
import {Workload} from "./Workload.sol";

/// A picture of 64 × 48 pixels, by rays that are mirrored, broken and shaded.
contract RayTracer is Workload {
    using Vectors for Vector;
    using Shapes for Shape;

    int256 private constant WIDTH = 64;
    int256 private constant HEIGHT = 48;
    uint256 private constant BOUNCES = 3;
    /// how much slower light is in glass
    int256 private constant DENSITY = 15e8;

    struct World {
        Shape[] shapes;
        Lamp[] lamps;
    }

    /// @param rounds pixels, scattered over the picture
    function run(uint256 rounds) external pure returns (bytes32 result) {
        World memory world = World(Scene.shapes(), Scene.lamps());
        uint256 free = freeMemory();
        for (uint256 i = 0; i < rounds; ++i) {
            uint256 pixel = (i * 1_187) % uint256(WIDTH * HEIGHT);
            result = keccak256(abi.encode(result, pixelAt(world, int256(pixel) % WIDTH, int256(pixel) / WIDTH)));
            setFreeMemory(free);
        }
    }

    /// One pixel as 0xRRGGBB, for whoever wants to look at the picture.
    function pixelOf(int256 x, int256 y) external pure returns (uint256) {
        return pixelAt(World(Scene.shapes(), Scene.lamps()), x, y);
    }

    function freeMemory() private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
        }
    }

    /// Gives back what a pixel took: else the price of memory, which grows with its square, would be most of the gas.
    function setFreeMemory(uint256 pointer) private pure {
        assembly ("memory-safe") {
            mstore(0x40, pointer)
        }
    }

    function pixelAt(World memory world, int256 x, int256 y) private pure returns (uint256) {
        Vector memory sum;
        for (int256 sample = 0; sample < 2; ++sample) {
            sum = sum.plus(colourOf(world, eyeRay(2 * x + sample, 2 * y + 1 - sample), BOUNCES));
        }
        return (shown(sum.x / 2) << 16) | (shown(sum.y / 2) << 8) | shown(sum.z / 2);
    }

    /// From the eye through a half pixel: a little above the floor, turned to the left.
    function eyeRay(int256 x, int256 y) private pure returns (Ray memory) {
        Vector memory direction = Vector(((x - WIDTH) * ONE) / HEIGHT, ((HEIGHT - y) * ONE) / HEIGHT - 15e7, 17e8);
        int256 angle = 12e7;
        return Ray(Vector(-6e8, 9e8, -3e9), direction.turned(sine(angle), cosine(angle)).unit());
    }

    /// A part of light as 0 to 255: bright light is pressed together, dark spread.
    function shown(int256 light) private pure returns (uint256) {
        if (light <= 0) return 0;
        int256 pressed = over(light, light + ONE / 2);
        return uint256(smaller(times(root(pressed), 255), 255));
    }

    function nearest(World memory world, Ray memory ray) private pure returns (Hit memory hit) {
        uint256 index = 0;
        for (uint256 i = 0; i < world.shapes.length; ++i) {
            int256 reach = world.shapes[i].meet(ray);
            if (reach != 0 && (hit.distance == 0 || reach < hit.distance)) {
                hit.distance = reach;
                index = i;
            }
        }
        if (hit.distance == 0) return hit;
        Shape memory shape = world.shapes[index];
        hit.place = ray.from.plus(ray.direction.scaled(hit.distance));
        hit.normal = shape.normalAt(hit.place);
        hit.material = shape.material;
    }

    function colourOf(World memory world, Ray memory ray, uint256 bounces) private pure returns (Vector memory) {
        Hit memory hit = nearest(world, ray);
        if (hit.distance == 0) return sky(ray.direction);
        bool isInside = hit.normal.dot(ray.direction) > 0;
        if (isInside) hit.normal = hit.normal.scaled(-ONE);
        if (hit.material.pattern == Pattern.Checks) hit.normal = rippled(hit);
        Vector memory surface = surfaceColour(hit);
        Vector memory colour = lit(world, hit, surface, ray.direction);
        if (bounces == 0) return foggy(colour, hit.distance);
        int256 edge = atEdge(ray.direction, hit.normal, hit.material.mirror);
        if (hit.material.glass > 0) {
            Vector memory behind = through(world, ray, hit, isInside, bounces - 1);
            colour = colour.mixed(behind.tinted(surface), hit.material.glass);
        }
        if (edge > 2e7) {
            Ray memory next = Ray(hit.place, ray.direction.mirrored(hit.normal).unit());
            colour = colour.mixed(colourOf(world, next, bounces - 1).tinted(surface), edge);
        }
        return foggy(colour, hit.distance);
    }

    /// The normal of a floor with small waves on it, weaker where one cannot see them.
    function rippled(Hit memory hit) private pure returns (Vector memory) {
        int256 strength = over(4e7, ONE + hit.distance / 6);
        int256 x = sine(times(hit.place.x, 7 * ONE) + cosine(times(hit.place.z, 3 * ONE)));
        int256 z = cosine(times(hit.place.z, 6 * ONE) - sine(times(hit.place.x, 2 * ONE)));
        return hit.normal.plus(Vector(times(x, strength), 0, times(z, strength))).unit();
    }

    /// A mirror is better where one looks along it.
    function atEdge(Vector memory direction, Vector memory normal, int256 mirror) private pure returns (int256) {
        if (mirror == 0) return 0;
        int256 slope = ONE - smaller(size(direction.dot(normal)), ONE);
        return mirror + times(ONE - mirror, power(slope, 5));
    }

    /// What is seen through glass: the ray is broken, or mirrored where it is too flat to leave.
    function through(World memory world, Ray memory ray, Hit memory hit, bool isInside, uint256 bounces)
        private
        pure
        returns (Vector memory)
    {
        int256 ratio = isInside ? DENSITY : over(ONE, DENSITY);
        int256 along = -hit.normal.dot(ray.direction);
        int256 rest = ONE - times(times(ratio, ratio), ONE - times(along, along));
        Vector memory direction = rest < 0
            ? ray.direction.mirrored(hit.normal)
            : ray.direction.scaled(ratio).plus(hit.normal.scaled(times(ratio, along) - root(rest)));
        return colourOf(world, Ray(hit.place, direction.unit()), bounces);
    }

    /// Light that comes from everywhere, and of each lamp what reaches the place: dull and glossy.
    function lit(World memory world, Hit memory hit, Vector memory surface, Vector memory direction)
        private
        pure
        returns (Vector memory colour)
    {
        colour = surface.tinted(Vector(12e7, 13e7, 16e7));
        Vector memory glare = direction.mirrored(hit.normal);
        for (uint256 i = 0; i < world.lamps.length; ++i) {
            colour = colour.plus(lampLight(world, world.lamps[i], hit, surface, glare));
        }
    }

    /// @param glare where a mirror would send the eye's ray
    function lampLight(World memory world, Lamp memory lamp, Hit memory hit, Vector memory surface, Vector memory glare)
        private
        pure
        returns (Vector memory colour)
    {
        Vector memory away = lamp.place.minus(hit.place);
        int256 distance = away.length();
        away = away.unit();
        int256 slope = away.dot(hit.normal);
        if (slope <= 0) return colour;
        int256 strength = lightLeft(world, Ray(hit.place, away), distance);
        if (strength == 0) return colour;
        strength = times(strength, over(60 * ONE, 60 * ONE + times(distance, distance) / 4));
        colour = surface.tinted(lamp.colour).scaled(times(strength, slope));
        if (hit.material.gloss == 0) return colour;
        int256 shine = power(larger(glare.dot(away), 0), 24);
        return colour.plus(lamp.colour.scaled(times(times(strength, hit.material.gloss), shine)));
    }

    /// How much of a lamp's light comes past the shapes between: glass takes a part, all else everything.
    function lightLeft(World memory world, Ray memory ray, int256 distance) private pure returns (int256 left) {
        left = ONE;
        for (uint256 i = 0; i < world.shapes.length; ++i) {
            int256 reach = world.shapes[i].meet(ray);
            if (reach == 0 || reach >= distance) continue;
            left = times(left, times(world.shapes[i].material.glass, 9e8));
            if (left == 0) return 0;
        }
    }

    function surfaceColour(Hit memory hit) private pure returns (Vector memory) {
        Material memory material = hit.material;
        if (material.pattern == Pattern.Plain) return material.colour;
        if (material.pattern == Pattern.Checks) {
            return (field(hit.place.x) + field(hit.place.z)) % 2 == 0 ? material.colour : material.second;
        }
        if (material.pattern == Pattern.Rings) {
            int256 off = root(times(hit.place.x, hit.place.x) + times(hit.place.y - 28e8, hit.place.y - 28e8));
            return field(off * 3) % 2 == 0 ? material.colour : material.second;
        }
        if (material.pattern == Pattern.Bricks) return brick(hit.place, material);
        int256 wave = sine(times(hit.place.x + hit.place.y, 4 * ONE) + 5 * cloud(hit.place));
        return material.colour.mixed(material.second, power((wave + ONE) / 2, 3));
    }

    /// Rows of bricks, each half a brick beside the one below, none of quite the same colour.
    function brick(Vector memory place, Material memory material) private pure returns (Vector memory) {
        int256 row = field(over(place.y, 4e8));
        int256 along = over(place.x, 9e8) + (row % 2 == 0 ? ONE / 2 : int256(0));
        int256 column = field(along);
        int256 inRow = over(place.y, 4e8) + 1_000 * ONE - row * ONE;
        int256 inColumn = along + 1_000 * ONE - column * ONE;
        if (inRow < 12e7 || inColumn < 6e7) return material.second;
        return material.colour.scaled(8e8 + corner(column, row, 7) * 3 / 10);
    }

    function field(int256 place) private pure returns (int256) {
        return (place + 1_000 * ONE) / ONE;
    }

    /// Noise of two sizes, between 0 and ONE.
    function cloud(Vector memory place) private pure returns (int256) {
        return (2 * grain(place.scaled(2 * ONE)) + grain(place.scaled(5 * ONE))) / 3;
    }

    /// Between the random numbers at the eight corners around a place.
    function grain(Vector memory place) private pure returns (int256) {
        int256 x = field(place.x);
        int256 y = field(place.y);
        int256 z = field(place.z);
        int256 u = soft(place.x + 1_000 * ONE - x * ONE);
        int256 v = soft(place.y + 1_000 * ONE - y * ONE);
        int256 low = flat(x, y, z, u, v);
        int256 high = flat(x, y, z + 1, u, v);
        int256 w = soft(place.z + 1_000 * ONE - z * ONE);
        return low + times(high - low, w);
    }

    function flat(int256 x, int256 y, int256 z, int256 u, int256 v) private pure returns (int256) {
        int256 near = corner(x, y, z);
        near += times(corner(x + 1, y, z) - near, u);
        int256 far = corner(x, y + 1, z);
        far += times(corner(x + 1, y + 1, z) - far, u);
        return near + times(far - near, v);
    }

    function corner(int256 x, int256 y, int256 z) private pure returns (int256) {
        unchecked {
            uint256 mixedUp = uint256(x * 73_856_093) ^ uint256(y * 19_349_663) ^ uint256(z * 83_492_791);
            mixedUp = (mixedUp ^ (mixedUp >> 13)) * 0x2545f4914f6cdd1d;
            return int256((mixedUp >> 20) % uint256(ONE));
        }
    }

    /// without corners at 0 and ONE
    function soft(int256 part) private pure returns (int256) {
        return times(times(part, part), 3 * ONE - 2 * part);
    }

    /// Light blue above, pale at the horizon, with a sun and streaks of cloud in it.
    function sky(Vector memory direction) private pure returns (Vector memory colour) {
        int256 height = larger(smaller(direction.y + 2e8, ONE), 0);
        colour = Vector(8e8, 82e7, 85e7).mixed(Vector(25e7, 45e7, 85e7), height);
        if (direction.y > 5e7) {
            Vector memory high = Vector(over(direction.x, direction.y), 0, over(direction.z, 3 * direction.y));
            colour = colour.mixed(Vector(ONE, ONE, ONE), times(power(cloud(high), 2), smaller(2 * height, ONE)) / 2);
        }
        int256 sun = larger(direction.dot(Vector(-48e7, 6e8, 64e7)), 0);
        return colour.plus(Vector(ONE, 85e7, 6e8).scaled(power(sun, 64)));
    }

    function foggy(Vector memory colour, int256 distance) private pure returns (Vector memory) {
        int256 clear = over(40 * ONE, 40 * ONE + distance);
        return Vector(6e8, 65e7, 7e8).mixed(colour, clear);
    }
}
