// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Three numbers with nine decimals: a place, a direction, or a colour.
struct Vector {
    int256 x;
    int256 y;
    int256 z;
}

int256 constant ONE = 1e9;

function times(int256 a, int256 b) pure returns (int256) {
    return (a * b) / ONE;
}

function over(int256 a, int256 b) pure returns (int256) {
    return (a * ONE) / b;
}

function smaller(int256 a, int256 b) pure returns (int256) {
    return a < b ? a : b;
}

function larger(int256 a, int256 b) pure returns (int256) {
    return a > b ? a : b;
}

function size(int256 a) pure returns (int256) {
    return a < 0 ? -a : a;
}

/// Root of a number with nine decimals; zero of what is negative.
function root(int256 a) pure returns (int256) {
    if (a <= 0) return 0;
    int256 square = a * ONE;
    int256 guess = larger(a, ONE);
    for (;;) {
        int256 next = (guess + square / guess) / 2;
        if (next >= guess) return guess;
        guess = next;
    }
    return guess;
}

/// base to the power of a small whole number
function power(int256 base, uint256 exponent) pure returns (int256 result) {
    result = ONE;
    while (exponent != 0) {
        if (exponent & 1 == 1) result = times(result, base);
        base = times(base, base);
        exponent >>= 1;
    }
}

/// Sine of an angle in radians, by the series after the angle is brought near zero.
function sine(int256 angle) pure returns (int256) {
    int256 turn = 6_283185307;
    int256 half = 3_141592654;
    angle = angle % turn;
    if (angle > half) angle -= turn;
    if (angle < -half) angle += turn;
    int256 square = times(angle, angle);
    int256 term = angle;
    int256 sum = angle;
    for (int256 i = 2; i < 18; i += 2) {
        term = -times(term, square) / (i * (i + 1));
        sum += term;
    }
    return sum;
}

function cosine(int256 angle) pure returns (int256) {
    return sine(angle + 1_570796327);
}

library Vectors {
    function plus(Vector memory a, Vector memory b) internal pure returns (Vector memory) {
        return Vector(a.x + b.x, a.y + b.y, a.z + b.z);
    }

    function minus(Vector memory a, Vector memory b) internal pure returns (Vector memory) {
        return Vector(a.x - b.x, a.y - b.y, a.z - b.z);
    }

    function scaled(Vector memory a, int256 by) internal pure returns (Vector memory) {
        return Vector(times(a.x, by), times(a.y, by), times(a.z, by));
    }

    /// each part with its own
    function tinted(Vector memory a, Vector memory by) internal pure returns (Vector memory) {
        return Vector(times(a.x, by.x), times(a.y, by.y), times(a.z, by.z));
    }

    function dot(Vector memory a, Vector memory b) internal pure returns (int256) {
        return (a.x * b.x + a.y * b.y + a.z * b.z) / ONE;
    }

    function cross(Vector memory a, Vector memory b) internal pure returns (Vector memory) {
        return Vector(
            (a.y * b.z - a.z * b.y) / ONE, (a.z * b.x - a.x * b.z) / ONE, (a.x * b.y - a.y * b.x) / ONE
        );
    }

    function length(Vector memory a) internal pure returns (int256) {
        return root(dot(a, a));
    }

    /// of length one
    function unit(Vector memory a) internal pure returns (Vector memory) {
        int256 whole = length(a);
        if (whole == 0) return Vector(0, ONE, 0);
        return Vector(over(a.x, whole), over(a.y, whole), over(a.z, whole));
    }

    /// where a direction goes on after a mirror
    function mirrored(Vector memory direction, Vector memory normal) internal pure returns (Vector memory) {
        return minus(direction, scaled(normal, 2 * dot(direction, normal)));
    }

    /// between two colours: part 0 is the first
    function mixed(Vector memory a, Vector memory b, int256 part) internal pure returns (Vector memory) {
        return plus(scaled(a, ONE - part), scaled(b, part));
    }

    /// turned about the vertical
    function turned(Vector memory a, int256 sin, int256 cos) internal pure returns (Vector memory) {
        return Vector(times(a.x, cos) + times(a.z, sin), a.y, times(a.z, cos) - times(a.x, sin));
    }
}
