// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Workload} from "./Workload.sol";

/// An ERC-20 that everybody may mint.
/// @dev ERC-20
contract Token {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error BalanceTooLow(address owner, uint256 balance, uint256 wanted);
    error AllowanceTooLow(address spender, uint256 allowed, uint256 wanted);
    error NoReceiver();

    uint256 public totalSupply;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) {
            if (allowed < value) revert AllowanceTooLow(msg.sender, allowed, value);
            allowance[from][msg.sender] = allowed - value;
        }
        _transfer(from, to, value);
        return true;
    }

    function _mint(address to, uint256 value) internal {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _transfer(address from, address to, uint256 value) internal {
        if (to == address(0)) revert NoReceiver();
        uint256 balance = balanceOf[from];
        if (balance < value) revert BalanceTooLow(from, balance, value);
        balanceOf[from] = balance - value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Transfers among 64 owners, the token's own code in a loop.
contract DirectTransfers is Token, Workload {
    function run(uint256 rounds) external returns (bytes32) {
        _mint(address(0x1000), 1e30);
        for (uint256 i = 0; i < rounds; ++i) {
            address from = address(uint160(0x1000 + (i & 63)));
            address to = address(uint160(0x1000 + ((i + 1) & 63)));
            _transfer(from, to, balanceOf[from] / 2 + 1);
        }
        bytes32 result;
        for (uint256 i = 0; i < 64; ++i) result = keccak256(abi.encode(result, balanceOf[address(uint160(0x1000 + i))]));
        return result;
    }
}

/// Transfers to 64 owners, each a call of the token.
contract CalledTransfers is Workload {
    Token private constant TOKEN = Token(address(0xbe01));

    function run(uint256 rounds) external returns (bytes32) {
        TOKEN.mint(address(this), 1e30);
        for (uint256 i = 0; i < rounds; ++i) {
            require(TOKEN.transfer(address(uint160(0x1000 + (i & 63))), i * 7 + 1));
        }
        bytes32 result;
        for (uint256 i = 0; i < 64; ++i) result = keccak256(abi.encode(result, TOKEN.balanceOf(address(uint160(0x1000 + i)))));
        return result;
    }
}
