// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Where deposits enter the devnet's L1: the calls and the event of an OptimismPortal, and nothing of withdrawals or fault proofs.
/// Deposits of one L1 block may ask for 20,000,000 L2 gas together, so that they always fit an L2 block; there is no price on that gas.
/// Storage may begin as zeros: the code is put in place without a constructor.
/// @dev OP specs, protocol/deposits.md
contract DevnetPortal {
    event TransactionDeposited(address indexed from, address indexed to, uint256 indexed version, bytes opaqueData);

    /// A creation names a target.
    error BadTarget();
    /// Less gas than the data costs on L2: see minimumGasLimit.
    error GasLimitTooLow(uint64 gasLimit, uint64 minimum);
    error DataTooLarge(uint256 size, uint256 maximum);
    /// The deposits of this L1 block ask for more than an L2 block is sure to have room for.
    error BlockGasExhausted(uint64 gasLimit, uint64 left);

    uint256 private constant DEPOSIT_VERSION = 0;
    uint256 private constant MAX_DATA_BYTES = 120_000;
    uint64 private constant RECEIVE_GAS = 100_000;
    uint64 private constant MAX_BLOCK_GAS = 20_000_000;
    uint160 private constant ALIAS_OFFSET = uint160(0x1111000000000000000000000000000000001111);

    /// the L1 block of the last deposit, and the L2 gas that deposits of that block asked for
    uint64 private lastBlock;
    uint64 private gasInBlock;

    /// Wei sent without a call are deposited for the sender itself.
    receive() external payable {
        _deposit(msg.sender, msg.value, RECEIVE_GAS, false, "");
    }

    /// @param to target on L2; zero for a creation
    /// @param value wei that the L2 transaction carries; the wei sent along are minted there first
    /// @param gasLimit gas of the L2 transaction
    function depositTransaction(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes calldata data) external payable {
        _deposit(to, value, gasLimit, isCreation, data);
    }

    /// L2 gas that a deposit with so many bytes of data needs at least: the floor price of data that is not zero.
    function minimumGasLimit(uint64 byteCount) public pure returns (uint64) {
        return byteCount * 40 + 21_000;
    }

    function version() external pure returns (string memory) {
        return "basalt-devnet-1";
    }

    function _deposit(address to, uint256 value, uint64 gasLimit, bool isCreation, bytes memory data) private {
        if (isCreation && to != address(0)) revert BadTarget();
        if (data.length > MAX_DATA_BYTES) revert DataTooLarge(data.length, MAX_DATA_BYTES);
        uint64 minimum = minimumGasLimit(uint64(data.length));
        if (gasLimit < minimum) revert GasLimitTooLow(gasLimit, minimum);
        _takeGas(gasLimit);
        emit TransactionDeposited(
            _senderOnL2(), to, DEPOSIT_VERSION, abi.encodePacked(msg.value, value, gasLimit, isCreation, data)
        );
    }

    function _takeGas(uint64 gasLimit) private {
        uint64 taken = lastBlock == uint64(block.number) ? gasInBlock : 0;
        if (gasLimit > MAX_BLOCK_GAS - taken) revert BlockGasExhausted(gasLimit, MAX_BLOCK_GAS - taken);
        lastBlock = uint64(block.number);
        gasInBlock = taken + gasLimit;
    }

    /// A contract's address is moved on L2, where somebody else may have code at it. Accounts with a key keep theirs, also when they
    /// run other code for now (EIP-7702: 23 bytes, 0xef0100 and an address).
    function _senderOnL2() private view returns (address) {
        if (msg.sender == tx.origin) return msg.sender;
        bytes memory code = msg.sender.code;
        if (code.length == 23 && code[0] == 0xef && code[1] == 0x01 && code[2] == 0x00) return msg.sender;
        unchecked {
            return address(uint160(msg.sender) + ALIAS_OFFSET);
        }
    }
}
