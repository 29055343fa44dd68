// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Work for an interpreter. What it returns depends on all of it, and on nothing else: not on gas, block or sender.
interface Workload {
    function run(uint256 rounds) external returns (bytes32);
}

/// Runs a workload and says what gas its call took, so that two interpreters can be compared by one answer.
contract Meter {
    function measure(Workload workload, uint256 rounds) external returns (bytes32 result, uint256 gasUsed) {
        uint256 before = gasleft();
        result = workload.run(rounds);
        gasUsed = before - gasleft();
    }
}
