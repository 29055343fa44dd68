// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// Compound interest, roots and decay in numbers of 18 decimals.
contract FixedPoint is Workload {
    int256 private constant ONE = 1e18;
    int256 private constant LN2 = 693147180559945309;

    function run(uint256 rounds) external pure returns (bytes32) {
        int256 sum = 0;
        int256 x = ONE + ONE / 7;
        for (uint256 i = 1; i <= rounds; ++i) {
            int256 rate = ONE + int256((i * 37) % 1_000) * 1e14;
            int256 grown = power(rate, x);
            sum += root(grown) - exponential(-x / 3);
            sum += times(logarithm(grown + ONE), over(x, grown));
            x = ONE / 9 + (sum % (5 * ONE) + 5 * ONE) % (5 * ONE);
        }
        return bytes32(uint256(sum));
    }

    function times(int256 a, int256 b) private pure returns (int256) {
        return (a * b) / ONE;
    }

    function over(int256 a, int256 b) private pure returns (int256) {
        return (a * ONE) / b;
    }

    /// 2^n times the series of what is left of the exponent.
    function exponential(int256 x) private pure returns (int256) {
        int256 n = x / LN2;
        int256 rest = x - n * LN2;
        int256 term = ONE;
        int256 sum = ONE;
        for (int256 i = 1; term != 0; ++i) {
            term = times(term, rest) / i;
            sum += term;
        }
        return n >= 0 ? sum << uint256(n) : sum >> uint256(-n);
    }

    /// n ln 2 and twice the series of the area tangent of what is left, which is between 1 and 2.
    function logarithm(int256 x) private pure returns (int256) {
        require(x > 0);
        int256 n = 0;
        while (x >= 2 * ONE) {
            x /= 2;
            ++n;
        }
        while (x < ONE) {
            x *= 2;
            --n;
        }
        int256 ratio = over(x - ONE, x + ONE);
        int256 square = times(ratio, ratio);
        int256 term = ratio;
        int256 sum = 0;
        for (int256 i = 1; term != 0; i += 2) {
            sum += term / i;
            term = times(term, square);
        }
        return n * LN2 + 2 * sum;
    }

    function power(int256 base, int256 exponent) private pure returns (int256) {
        return exponential(times(exponent, logarithm(base)));
    }

    /// Newton's steps from above.
    function root(int256 x) private pure returns (int256) {
        int256 square = x * ONE;
        int256 guess = x > ONE ? x : ONE;
        for (;;) {
            int256 next = (guess + square / guess) / 2;
            if (next >= guess) return guess;
            guess = next;
        }
        revert();
    }
}
