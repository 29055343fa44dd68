import { createRequire } from 'node:module'
import type Solc from 'solc'
import type { Abi, Hex } from 'viem'

const source = `
// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract Lab {
    event Stored(address indexed by, uint256 indexed key, uint256 value, string note);
    event Received(address indexed from, uint256 value);
    error TooLarge(uint256 given, uint256 largest);
    struct Call { address to; uint256 value; bytes data; }

    mapping(uint256 => uint256) public values;
    address public immutable maker;
    uint256 public calls;

    constructor(uint256 first) payable {
        maker = msg.sender;
        values[0] = first;
    }

    receive() external payable { emit Received(msg.sender, msg.value); }

    function store(uint256 key, uint256 value, string calldata note) external {
        if (value > 1000) revert TooLarge(value, 1000);
        values[key] = value;
        calls += 1;
        emit Stored(msg.sender, key, value, note);
    }

    function refuse(string calldata why) external view {
        require(maker == address(0), why);
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) { return a / b; }

    function burn(uint256 rounds) external {
        for (uint256 i = 0; i < rounds; i++) values[1000 + i] = i + 1;
    }

    /// a function for an account with this code as its delegation (EIP-7702)
    function batch(Call[] calldata list) external payable {
        for (uint256 i = 0; i < list.length; i++) {
            (bool ok,) = list[i].to.call{value: list[i].value}(list[i].data);
            require(ok, "call failed");
        }
        emit Received(address(this), list.length);
    }
}

/// Calls a portal a given number of times, so that a contract makes the deposits; then reverts if requested.
contract Depositor {
    error AfterAll();
    function deposit(address portal, address to, uint256 times, uint256 mint, uint256 value, uint64 gas, bytes calldata data, bool fails)
        external payable
    {
        for (uint256 i = 0; i < times; i++) {
            (bool ok,) = portal.call{value: mint}(
                abi.encodeWithSignature("depositTransaction(address,uint256,uint64,bool,bytes)", to, value, gas, false, data)
            );
            require(ok, "deposit failed");
        }
        if (fails) revert AfterAll();
    }
}
`

export type Compiled = { readonly abi: Abi; readonly bytecode: Hex }

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts: { readonly 'Lab.sol': Record<'Lab' | 'Depositor', { abi: Abi; evm: { bytecode: { object: string } } }> }
}

/** Compiles the contracts of the flows, for the oldest rules at the genesis of a chain here. Cost: about a second. */
export function compileLab(): { readonly lab: Compiled; readonly depositor: Compiled } {
  const solc: typeof Solc = createRequire(import.meta.url)('solc')
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'paris',
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  }
  const input = { language: 'Solidity', sources: { 'Lab.sol': { content: source } }, settings }
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output
  const grave = errors.filter(({ severity }) => severity === 'error')
  if (grave.length > 0) throw new Error(grave.map(({ formattedMessage }) => formattedMessage).join('\n'))
  const take = ({ abi, evm }: { abi: Abi; evm: { bytecode: { object: string } } }): Compiled => ({
    abi,
    bytecode: `0x${evm.bytecode.object}`,
  })
  return { lab: take(contracts['Lab.sol'].Lab), depositor: take(contracts['Lab.sol'].Depositor) }
}

/** The functions of Lab that the tests call, with their types. */
export const labAbi = [
  { type: 'constructor', stateMutability: 'payable', inputs: [{ name: 'first', type: 'uint256' }] },
  {
    type: 'event',
    name: 'Stored',
    inputs: [
      { name: 'by', type: 'address', indexed: true },
      { name: 'key', type: 'uint256', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
      { name: 'note', type: 'string', indexed: false },
    ],
  },
  {
    type: 'event',
    name: 'Received',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
  {
    type: 'error',
    name: 'TooLarge',
    inputs: [
      { name: 'given', type: 'uint256' },
      { name: 'largest', type: 'uint256' },
    ],
  },
  { type: 'function', name: 'values', stateMutability: 'view', inputs: [{ name: 'key', type: 'uint256' }], outputs: [{ type: 'uint256' }] },
  { type: 'function', name: 'maker', stateMutability: 'view', inputs: [], outputs: [{ type: 'address' }] },
  { type: 'function', name: 'calls', stateMutability: 'view', inputs: [], outputs: [{ type: 'uint256' }] },
  {
    type: 'function',
    name: 'store',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'key', type: 'uint256' },
      { name: 'value', type: 'uint256' },
      { name: 'note', type: 'string' },
    ],
    outputs: [],
  },
  { type: 'function', name: 'refuse', stateMutability: 'view', inputs: [{ name: 'why', type: 'string' }], outputs: [] },
  {
    type: 'function',
    name: 'divide',
    stateMutability: 'pure',
    inputs: [
      { name: 'a', type: 'uint256' },
      { name: 'b', type: 'uint256' },
    ],
    outputs: [{ type: 'uint256' }],
  },
  { type: 'function', name: 'burn', stateMutability: 'nonpayable', inputs: [{ name: 'rounds', type: 'uint256' }], outputs: [] },
  {
    type: 'function',
    name: 'batch',
    stateMutability: 'payable',
    inputs: [
      {
        name: 'list',
        type: 'tuple[]',
        components: [
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'data', type: 'bytes' },
        ],
      },
    ],
    outputs: [],
  },
] as const
