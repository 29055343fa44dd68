// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Tokens.sol";
import {Workload} from "./Workload.sol";

/// A pool of two tokens whose product of reserves never falls; the pool keeps 3 of 1,000 of what comes in. As on a public chain: reserves in
/// one slot, balances asked of the tokens, a lock, tokens leave before the product is looked at.
contract Pair {
    event Swapped(address indexed by, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to);
    event Reserves(uint112 reserve0, uint112 reserve1);

    error Locked();
    error NothingAsked();
    error NotSoMuchThere();
    error NothingPaid();
    error PaidTooLittle();
    error TooLarge();

    Token public constant TOKEN0 = Token(address(0xbe01));
    Token public constant TOKEN1 = Token(address(0xbe02));

    uint112 private reserve0;
    uint112 private reserve1;
    uint32 private swaps;
    /// sums of prices after each change, 112 bits behind the point
    uint256 public priceSum0;
    uint256 public priceSum1;
    uint256 private lock;

    modifier locked() {
        if (lock != 0) revert Locked();
        lock = 1;
        _;
        lock = 0;
    }

    function reserves() external view returns (uint112, uint112, uint32) {
        return (reserve0, reserve1, swaps);
    }

    /// Takes the balances as they are.
    function sync() external locked {
        _update(TOKEN0.balanceOf(address(this)), TOKEN1.balanceOf(address(this)), 0, 0);
    }

    /// Gives what is asked; the price has been sent here before.
    function swap(uint256 out0, uint256 out1, address to) external locked {
        if (out0 == 0 && out1 == 0) revert NothingAsked();
        (uint112 had0, uint112 had1) = (reserve0, reserve1);
        if (out0 >= had0 || out1 >= had1) revert NotSoMuchThere();
        if (out0 > 0) require(TOKEN0.transfer(to, out0));
        if (out1 > 0) require(TOKEN1.transfer(to, out1));
        uint256 has0 = TOKEN0.balanceOf(address(this));
        uint256 has1 = TOKEN1.balanceOf(address(this));
        uint256 in0 = has0 > had0 - out0 ? has0 - (had0 - out0) : 0;
        uint256 in1 = has1 > had1 - out1 ? has1 - (had1 - out1) : 0;
        if (in0 == 0 && in1 == 0) revert NothingPaid();
        uint256 counted0 = has0 * 1_000 - in0 * 3;
        uint256 counted1 = has1 * 1_000 - in1 * 3;
        if (counted0 * counted1 < uint256(had0) * had1 * 1_000_000) revert PaidTooLittle();
        _update(has0, has1, had0, had1);
        emit Swapped(msg.sender, in0, in1, out0, out1, to);
    }

    function _update(uint256 has0, uint256 has1, uint112 had0, uint112 had1) private {
        if (has0 > type(uint112).max || has1 > type(uint112).max) revert TooLarge();
        if (had0 != 0 && had1 != 0) {
            unchecked {
                priceSum0 += (uint256(had1) << 112) / had0;
                priceSum1 += (uint256(had0) << 112) / had1;
            }
        }
        reserve0 = uint112(has0);
        reserve1 = uint112(has1);
        swaps += 1;
        emit Reserves(uint112(has0), uint112(has1));
    }
}

/// Trades with the pair, to and fro, in amounts that differ.
contract Swaps is Workload {
    Pair private constant PAIR = Pair(address(0xbe03));
    Token private constant TOKEN0 = Token(address(0xbe01));
    Token private constant TOKEN1 = Token(address(0xbe02));

    function run(uint256 rounds) external returns (bytes32) {
        TOKEN0.mint(address(PAIR), 5_000_000e18);
        TOKEN1.mint(address(PAIR), 12_000_000e18);
        PAIR.sync();
        TOKEN0.mint(address(this), 1_000_000e18);
        TOKEN1.mint(address(this), 1_000_000e18);
        for (uint256 i = 0; i < rounds; ++i) {
            uint256 amount = 1e18 + (i % 97) * 1e17;
            (uint112 reserve0, uint112 reserve1,) = PAIR.reserves();
            if (i & 1 == 0) {
                require(TOKEN0.transfer(address(PAIR), amount));
                PAIR.swap(0, priceOf(amount, reserve0, reserve1), address(this));
            } else {
                require(TOKEN1.transfer(address(PAIR), amount));
                PAIR.swap(priceOf(amount, reserve1, reserve0), 0, address(this));
            }
        }
        (uint112 last0, uint112 last1,) = PAIR.reserves();
        return keccak256(abi.encode(last0, last1, PAIR.priceSum0(), PAIR.priceSum1(), TOKEN0.balanceOf(address(this))));
    }

    /// What the pair gives at most for an amount.
    function priceOf(uint256 amount, uint256 reserveIn, uint256 reserveOut) private pure returns (uint256) {
        uint256 counted = amount * 997;
        return (counted * reserveOut) / (reserveIn * 1_000 + counted);
    }
}
