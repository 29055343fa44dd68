// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// Each hash is of the one before: of 32 bytes, of 64 as a mapping's slot, and now and then of 200.
contract KeccakChain is Workload {
    function run(uint256 rounds) external pure returns (bytes32 last) {
        bytes memory long = new bytes(200);
        unchecked {
            for (uint256 i = 0; i < rounds; ++i) {
                assembly ("memory-safe") {
                    mstore(0, last)
                    mstore(32, i)
                    last := keccak256(0, 64)
                    mstore(0, last)
                    last := keccak256(0, 32)
                    mstore(add(add(long, 32), and(mul(i, 8), 127)), last)
                }
                if (i & 15 == 0) last = keccak256(long);
            }
        }
    }
}

/// A hash in the manner of SHA-2: words of 32 bits that are rotated, shifted, chosen and added. Constants and sums are our own.
contract Rotates is Workload {
    /// @param rounds blocks of 64 bytes; each is made of the state before it
    function run(uint256 rounds) external pure returns (bytes32) {
        uint32[8] memory state;
        uint32[64] memory schedule;
        unchecked {
            for (uint32 i = 0; i < 8; ++i) state[i] = (i + 1) * 0x9e3779b1;
            for (uint256 round = 0; round < rounds; ++round) {
                for (uint32 i = 0; i < 16; ++i) schedule[i] = state[i & 7] * (2 * i + 3) + uint32(round);
                expand(schedule);
                compress(state, schedule);
            }
        }
        uint256 result;
        for (uint256 i = 0; i < 8; ++i) result = (result << 32) | state[i];
        return bytes32(result);
    }

    function expand(uint32[64] memory w) private pure {
        unchecked {
            for (uint256 i = 16; i < 64; ++i) {
                uint32 near = w[i - 2];
                uint32 far = w[i - 15];
                uint32 mixedNear = rotate(near, 16) ^ rotate(near, 21) ^ (near >> 9);
                uint32 mixedFar = rotate(far, 8) ^ rotate(far, 19) ^ (far >> 4);
                w[i] = w[i - 16] + mixedFar + w[i - 7] + mixedNear;
            }
        }
    }

    function compress(uint32[8] memory state, uint32[64] memory w) private pure {
        unchecked {
            uint32[8] memory s = [state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]];
            uint32 constantWord = 0x3c6ef372;
            for (uint256 i = 0; i < 64; ++i) {
                constantWord = constantWord * 0x01000193 + 0x7f4a7c15;
                uint32 e = s[4];
                uint32 first = s[7] + (rotate(e, 5) ^ rotate(e, 12) ^ rotate(e, 24)) + ((e & s[5]) ^ (~e & s[6])) + constantWord + w[i];
                uint32 a = s[0];
                uint32 second = (rotate(a, 3) ^ rotate(a, 14) ^ rotate(a, 23)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
                s[7] = s[6];
                s[6] = s[5];
                s[5] = e;
                s[4] = s[3] + first;
                s[3] = s[2];
                s[2] = s[1];
                s[1] = a;
                s[0] = first + second;
            }
            for (uint256 i = 0; i < 8; ++i) state[i] += s[i];
        }
    }

    function rotate(uint32 word, uint32 bits) private pure returns (uint32) {
        unchecked {
            return (word >> bits) | (word << (32 - bits));
        }
    }
}
