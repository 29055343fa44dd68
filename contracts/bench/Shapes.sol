// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ONE, Vector, Vectors, larger, over, root, size, smaller, times} from "./Vectors.sol";

struct Ray {
    Vector from;
    /// of length one
    Vector direction;
}

enum Pattern {
    Plain,
    Checks,
    Rings,
    Marble,
    Bricks
}

struct Material {
    Vector colour;
    /// of Checks and Rings: every other field; of Marble: the veins; of Bricks: the mortar
    Vector second;
    Pattern pattern;
    /// parts of ONE
    int256 mirror;
    int256 glass;
    int256 gloss;
}

enum Kind {
    Sphere,
    Plane,
    Disc,
    Box,
    Triangle,
    Cylinder,
    Egg,
    Cone
}

/// What the places mean depends on the kind.
struct Shape {
    Kind kind;
    /// centre of a sphere, disc, egg, of a cylinder's foot; a point of a plane; a triangle's first, a box's least corner; tip of a cone
    Vector a;
    /// normal of a plane or disc; a triangle's second, a box's greatest corner; half the axes of an egg; y: top of a cylinder, foot of a cone;
    /// x of a cone: its width by its height
    Vector b;
    /// third corner
    Vector c;
    /// radius of what is round
    int256 r;
    Material material;
}

struct Hit {
    /// zero: nothing
    int256 distance;
    Vector place;
    Vector normal;
    Material material;
}

/// Where a ray meets a shape first: the distance, zero when it does not.
library Shapes {
    using Vectors for Vector;

    /// nearer is the shape that the ray leaves
    int256 private constant NEAR = 1e5;

    function meet(Shape memory shape, Ray memory ray) internal pure returns (int256) {
        if (shape.kind == Kind.Sphere) return sphere(shape, ray);
        if (shape.kind == Kind.Plane) return plane(shape, ray);
        if (shape.kind == Kind.Disc) return disc(shape, ray);
        if (shape.kind == Kind.Box) return box(shape, ray);
        if (shape.kind == Kind.Triangle) return triangle(shape, ray);
        if (shape.kind == Kind.Cylinder) return cylinder(shape, ray);
        return shape.kind == Kind.Egg ? egg(shape, ray) : cone(shape, ray);
    }

    function normalAt(Shape memory shape, Vector memory place) internal pure returns (Vector memory) {
        if (shape.kind == Kind.Sphere) return place.minus(shape.a).unit();
        if (shape.kind == Kind.Box) return boxNormal(shape, place);
        if (shape.kind == Kind.Triangle) return shape.b.minus(shape.a).cross(shape.c.minus(shape.a)).unit();
        if (shape.kind == Kind.Cylinder) return Vector(place.x - shape.a.x, 0, place.z - shape.a.z).unit();
        if (shape.kind == Kind.Egg) {
            Vector memory off = shrunk(place.minus(shape.a), shape.b);
            return shrunk(off, shape.b).unit();
        }
        if (shape.kind == Kind.Cone) {
            Vector memory off = place.minus(shape.a);
            return Vector(off.x, -times(off.y, times(shape.b.x, shape.b.x)), off.z).unit();
        }
        return shape.b;
    }

    function sphere(Shape memory shape, Ray memory ray) private pure returns (int256) {
        Vector memory away = shape.a.minus(ray.from);
        int256 along = away.dot(ray.direction);
        int256 inside = times(along, along) - away.dot(away) + times(shape.r, shape.r);
        if (inside < 0) return 0;
        return firstOf(along - root(inside), along + root(inside));
    }

    function plane(Shape memory shape, Ray memory ray) private pure returns (int256) {
        int256 slope = shape.b.dot(ray.direction);
        if (size(slope) < NEAR) return 0;
        int256 reach = over(shape.b.dot(shape.a.minus(ray.from)), slope);
        return reach > NEAR ? reach : int256(0);
    }

    function disc(Shape memory shape, Ray memory ray) private pure returns (int256) {
        int256 reach = plane(shape, ray);
        if (reach == 0) return 0;
        Vector memory off = ray.from.plus(ray.direction.scaled(reach)).minus(shape.a);
        return off.dot(off) > times(shape.r, shape.r) ? int256(0) : reach;
    }

    function box(Shape memory shape, Ray memory ray) private pure returns (int256) {
        int256 enter = -1e18;
        int256 exit = 1e18;
        (enter, exit) = slab(shape.a.x, shape.b.x, ray.from.x, ray.direction.x, enter, exit);
        (enter, exit) = slab(shape.a.y, shape.b.y, ray.from.y, ray.direction.y, enter, exit);
        (enter, exit) = slab(shape.a.z, shape.b.z, ray.from.z, ray.direction.z, enter, exit);
        return enter > exit ? int256(0) : firstOf(enter, exit);
    }

    function slab(int256 least, int256 most, int256 from, int256 direction, int256 enter, int256 exit)
        private
        pure
        returns (int256, int256)
    {
        if (size(direction) < 1_000) {
            return from < least || from > most ? (int256(1e18), -int256(1e18)) : (enter, exit);
        }
        int256 one = over(least - from, direction);
        int256 other = over(most - from, direction);
        return (larger(enter, smaller(one, other)), smaller(exit, larger(one, other)));
    }

    function boxNormal(Shape memory shape, Vector memory place) private pure returns (Vector memory) {
        Vector memory half = shape.b.minus(shape.a).scaled(ONE / 2);
        Vector memory off = place.minus(shape.a.plus(half));
        int256 x = over(off.x, half.x);
        int256 y = over(off.y, half.y);
        int256 z = over(off.z, half.z);
        if (size(x) >= size(y) && size(x) >= size(z)) return Vector(x > 0 ? ONE : -ONE, 0, 0);
        if (size(y) >= size(z)) return Vector(0, y > 0 ? ONE : -ONE, 0);
        return Vector(0, 0, z > 0 ? ONE : -ONE);
    }

    /// The place in the triangle in two coordinates along its sides.
    function triangle(Shape memory shape, Ray memory ray) private pure returns (int256) {
        Vector memory one = shape.b.minus(shape.a);
        Vector memory other = shape.c.minus(shape.a);
        Vector memory across = ray.direction.cross(other);
        int256 slope = one.dot(across);
        if (size(slope) < 1_000) return 0;
        Vector memory away = ray.from.minus(shape.a);
        int256 u = over(away.dot(across), slope);
        if (u < 0 || u > ONE) return 0;
        Vector memory up = away.cross(one);
        int256 v = over(ray.direction.dot(up), slope);
        if (v < 0 || u + v > ONE) return 0;
        int256 reach = over(other.dot(up), slope);
        return reach > NEAR ? reach : int256(0);
    }

    /// Upright and open, from the centre up to b.y.
    function cylinder(Shape memory shape, Ray memory ray) private pure returns (int256) {
        int256 x = ray.from.x - shape.a.x;
        int256 z = ray.from.z - shape.a.z;
        int256 square = times(ray.direction.x, ray.direction.x) + times(ray.direction.z, ray.direction.z);
        if (square < 1_000) return 0;
        int256 half = times(x, ray.direction.x) + times(z, ray.direction.z);
        int256 inside = times(half, half) - times(square, times(x, x) + times(z, z) - times(shape.r, shape.r));
        if (inside < 0) return 0;
        int256 width = root(inside);
        int256 reach = over(-half - width, square);
        if (reach > NEAR && isBetween(shape, ray, reach)) return reach;
        reach = over(-half + width, square);
        return reach > NEAR && isBetween(shape, ray, reach) ? reach : int256(0);
    }

    /// A sphere of one where the egg's axes are the measure.
    function egg(Shape memory shape, Ray memory ray) private pure returns (int256) {
        Vector memory from = shrunk(ray.from.minus(shape.a), shape.b);
        Vector memory direction = shrunk(ray.direction, shape.b);
        int256 square = direction.dot(direction);
        int256 half = from.dot(direction);
        int256 inside = times(half, half) - times(square, from.dot(from) - ONE);
        if (inside < 0) return 0;
        int256 width = root(inside);
        return firstOf(over(-half - width, square), over(-half + width, square));
    }

    function shrunk(Vector memory a, Vector memory by) private pure returns (Vector memory) {
        return Vector(over(a.x, by.x), over(a.y, by.y), over(a.z, by.z));
    }

    /// Upright and open, from the tip down to b.y.
    function cone(Shape memory shape, Ray memory ray) private pure returns (int256) {
        Vector memory off = ray.from.minus(shape.a);
        int256 spread = times(shape.b.x, shape.b.x);
        int256 square = times(ray.direction.x, ray.direction.x) + times(ray.direction.z, ray.direction.z)
            - times(spread, times(ray.direction.y, ray.direction.y));
        if (size(square) < 1_000) return 0;
        int256 half = times(off.x, ray.direction.x) + times(off.z, ray.direction.z)
            - times(spread, times(off.y, ray.direction.y));
        int256 rest = times(off.x, off.x) + times(off.z, off.z) - times(spread, times(off.y, off.y));
        int256 inside = times(half, half) - times(square, rest);
        if (inside < 0) return 0;
        int256 width = root(inside);
        int256 one = over(-half - width, square);
        int256 other = over(-half + width, square);
        int256 nearer = smaller(one, other);
        if (nearer > NEAR && isBelowTip(shape, ray, nearer)) return nearer;
        int256 farther = larger(one, other);
        return farther > NEAR && isBelowTip(shape, ray, farther) ? farther : int256(0);
    }

    function isBelowTip(Shape memory shape, Ray memory ray, int256 reach) private pure returns (bool) {
        int256 y = ray.from.y + times(ray.direction.y, reach);
        return y <= shape.a.y && y >= shape.b.y;
    }

    function isBetween(Shape memory shape, Ray memory ray, int256 reach) private pure returns (bool) {
        int256 y = ray.from.y + times(ray.direction.y, reach);
        return y >= shape.a.y && y <= shape.b.y;
    }

    function firstOf(int256 near, int256 far) private pure returns (int256) {
        if (near > NEAR) return near;
        return far > NEAR ? far : int256(0);
    }
}
