// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// Words of full width: products, quotients, remainders, shifts, comparisons, signed and not.
contract Arithmetic256 is Workload {
    function run(uint256 rounds) external pure returns (bytes32) {
        unchecked {
            uint256 a = 0x51f15eed51f15eed_0badcafe0badcafe_1234567890abcdef_fedcba0987654321;
            uint256 b = 0x7c0ffee17c0ffee1_aaaabbbbccccdddd_1357913579135791_2468024680246802;
            int256 s = -0x1fffffffffffffff_0123456789abcdef;
            for (uint256 i = 1; i <= rounds; ++i) {
                a = a * b + i;
                b = (b << 13) ^ (a >> 97) ^ ~i;
                a ^= b / ((a >> 120) | 1);
                b += a % ((b >> 64) | 1);
                s = s * 3 - int256(a) / (int256(b >> 190) + 7);
                if (s < 0) b -= uint256(s >> 5);
                else a += uint256(s % 1_000_003);
                a = a > b ? a - (b | 1) : a * 5 + (b & type(uint128).max);
            }
            return bytes32(a ^ b ^ uint256(s));
        }
    }
}

/// Numbers that fit 64 bits, as hashes and generators of random numbers use them; each result is cut to 64 bits again.
contract Arithmetic64 is Workload {
    function run(uint256 rounds) external pure returns (bytes32) {
        unchecked {
            uint64 x = 0x1d872b41f3a5c69e;
            uint64 y = 0x6c8e9cf570932bd5;
            uint64 sum = 0;
            for (uint64 i = 1; i <= uint64(rounds); ++i) {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                y = y * 0x5851f42d4c957f2d + (i | 1);
                uint64 rotated = (y >> 29) | (y << 35);
                sum += x + (rotated ^ (x >> 3));
                if (sum & 3 == 0) sum = sum / 3 + y % 65_521;
            }
            return bytes32((uint256(x) << 128) | (uint256(y) << 64) | sum);
        }
    }
}

/// Points of y² = x³ + 3 over the field of BN254, in Jacobian coordinates: doubled and added to by MULMOD and ADDMOD.
contract MulmodBn254 is Workload {
    uint256 private constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

    struct Point {
        uint256 x;
        uint256 y;
        uint256 z;
    }

    /// @param rounds steps; a step doubles, every other step also adds the generator (1, 2)
    function run(uint256 rounds) external pure returns (bytes32) {
        Point memory point = Point(1, 2, 1);
        double(point);
        for (uint256 i = 0; i < rounds; ++i) {
            double(point);
            if (i & 1 == 1) addGenerator(point);
        }
        return keccak256(abi.encode(point.x, point.y, point.z));
    }

    function double(Point memory p) private pure {
        (uint256 x, uint256 y, uint256 z) = (p.x, p.y, p.z);
        uint256 yy = mulmod(y, y, P);
        uint256 s = mulmod(4, mulmod(x, yy, P), P);
        uint256 m = mulmod(3, mulmod(x, x, P), P);
        uint256 nextX = sub(mulmod(m, m, P), addmod(s, s, P));
        p.z = mulmod(2, mulmod(y, z, P), P);
        p.y = sub(mulmod(m, sub(s, nextX), P), mulmod(8, mulmod(yy, yy, P), P));
        p.x = nextX;
    }

    function addGenerator(Point memory p) private pure {
        (uint256 x, uint256 y, uint256 z) = (p.x, p.y, p.z);
        uint256 zz = mulmod(z, z, P);
        uint256 h = sub(zz, x);
        uint256 r = sub(mulmod(2, mulmod(zz, z, P), P), y);
        uint256 hh = mulmod(h, h, P);
        uint256 hhh = mulmod(hh, h, P);
        uint256 v = mulmod(x, hh, P);
        uint256 nextX = sub(sub(mulmod(r, r, P), hhh), addmod(v, v, P));
        p.y = sub(mulmod(r, sub(v, nextX), P), mulmod(y, hhh, P));
        p.x = nextX;
        p.z = mulmod(z, h, P);
    }

    function sub(uint256 a, uint256 b) private pure returns (uint256) {
        unchecked {
            return addmod(a, P - b, P);
        }
    }
}
