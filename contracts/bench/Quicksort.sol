// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// Sorts 1,000 words a round in memory, with the compiler's checks of bounds and overflow.
contract Quicksort is Workload {
    uint256 private constant LENGTH = 1_000;

    function run(uint256 rounds) external pure returns (bytes32 result) {
        uint256[] memory words = new uint256[](LENGTH);
        for (uint256 round = 0; round < rounds; ++round) {
            uint256 seed = uint256(result) ^ round;
            for (uint256 i = 0; i < LENGTH; ++i) {
                unchecked {
                    seed = seed * 0x5deece66d5deece66d5deece66d5deece66d + 0xb0b;
                }
                words[i] = seed >> 96;
            }
            sort(words, 0, LENGTH - 1);
            uint256 sum = 0;
            for (uint256 i = 1; i < LENGTH; ++i) {
                require(words[i - 1] <= words[i]);
                unchecked {
                    sum = sum * 31 + words[i];
                }
            }
            result = bytes32(sum);
        }
    }

    /// @param from first place @param to last place, itself included
    function sort(uint256[] memory words, uint256 from, uint256 to) private pure {
        uint256 pivot = words[from + (to - from) / 2];
        uint256 low = from;
        uint256 high = to;
        while (low <= high) {
            while (words[low] < pivot) ++low;
            while (words[high] > pivot) --high;
            if (low > high) break;
            (words[low], words[high]) = (words[high], words[low]);
            ++low;
            if (high == 0) break;
            --high;
        }
        if (from < high) sort(words, from, high);
        if (low < to) sort(words, low, to);
    }
}
