// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// Reads slots that nobody has read before in the transaction. The bench fills them.
contract ColdSlots is Workload {
    /// odd, so that every slot is another
    uint256 private constant STEP = 0x9e6c63d0676a9a99_b7e151628aed2a6b_d5a79147930aa725_c2b2ae3d27d4eb4f;

    /// @param rounds slots
    function run(uint256 rounds) external view returns (bytes32) {
        uint256 sum = 0;
        unchecked {
            for (uint256 i = 1; i <= rounds; ++i) {
                uint256 slot = i * STEP;
                assembly ("memory-safe") {
                    sum := add(mul(sum, 3), sload(slot))
                }
            }
        }
        return bytes32(sum);
    }
}

/// Creates small contracts, 1,000 a round, at the addresses that their salts give.
contract Creations is Workload {
    /// memory[31] = 42, return 32 bytes
    uint256 private constant INIT_CODE = 0x602a60005260206000f3;

    function run(uint256 rounds) external returns (bytes32 result) {
        unchecked {
            for (uint256 salt = 1; salt <= rounds * 1_000; ++salt) {
                address created;
                assembly ("memory-safe") {
                    mstore(0, INIT_CODE)
                    created := create2(0, 22, 10, salt)
                }
                require(created != address(0));
                result = bytes32((uint256(result) * 5) ^ uint160(created));
            }
        }
    }
}

/// Calls itself 1,000 deep, again in each round.
contract NestedCalls is Workload {
    function run(uint256 rounds) external view returns (bytes32 result) {
        for (uint256 i = 0; i < rounds; ++i) {
            result = keccak256(abi.encode(result, this.descend(1_000, uint256(result) ^ i)));
        }
    }

    function descend(uint256 levels, uint256 word) external view returns (uint256) {
        unchecked {
            if (levels == 0) return word;
            return this.descend(levels - 1, word * 3 + levels) ^ levels;
        }
    }
}
