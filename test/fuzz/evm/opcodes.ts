import { type EvmFork, evmForks } from '#chainspec/evmRules'

/** Opcode with the number of words that it takes and gives, and whether it changes state. Yellow paper, appendix H, and later EIPs. */
export type Opcode = {
  readonly code: number
  readonly name: string
  readonly takes: number
  readonly gives: number
  readonly since?: EvmFork
  /** Forbidden in a static call; CALL only with value. */
  readonly writes?: true
}

const upTo = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i + 1))

function names(from: number, takes: number, gives: number, text: string): Opcode[] {
  return text.split(' ').map((name, i) => ({ code: from + i, name, takes, gives }))
}

/** All opcodes of Osaka except INVALID. */
export const opcodes: readonly Opcode[] = [
  ...names(0x00, 0, 0, 'STOP'),
  ...names(0x01, 2, 1, 'ADD MUL SUB DIV SDIV MOD SMOD'),
  ...names(0x08, 3, 1, 'ADDMOD MULMOD'),
  ...names(0x0a, 2, 1, 'EXP SIGNEXTEND'),
  ...names(0x10, 2, 1, 'LT GT SLT SGT EQ'),
  ...names(0x15, 1, 1, 'ISZERO'),
  ...names(0x16, 2, 1, 'AND OR XOR'),
  ...names(0x19, 1, 1, 'NOT'),
  ...names(0x1a, 2, 1, 'BYTE SHL SHR SAR'),
  { code: 0x1e, name: 'CLZ', takes: 1, gives: 1, since: 'osaka' },
  ...names(0x20, 2, 1, 'KECCAK256'),
  ...names(0x30, 0, 1, 'ADDRESS'),
  ...names(0x31, 1, 1, 'BALANCE'),
  ...names(0x32, 0, 1, 'ORIGIN CALLER CALLVALUE'),
  ...names(0x35, 1, 1, 'CALLDATALOAD'),
  ...names(0x36, 0, 1, 'CALLDATASIZE'),
  ...names(0x37, 3, 0, 'CALLDATACOPY'),
  ...names(0x38, 0, 1, 'CODESIZE'),
  ...names(0x39, 3, 0, 'CODECOPY'),
  ...names(0x3a, 0, 1, 'GASPRICE'),
  ...names(0x3b, 1, 1, 'EXTCODESIZE'),
  ...names(0x3c, 4, 0, 'EXTCODECOPY'),
  ...names(0x3d, 0, 1, 'RETURNDATASIZE'),
  ...names(0x3e, 3, 0, 'RETURNDATACOPY'),
  ...names(0x3f, 1, 1, 'EXTCODEHASH BLOCKHASH'),
  ...names(0x41, 0, 1, 'COINBASE TIMESTAMP NUMBER PREVRANDAO GASLIMIT CHAINID SELFBALANCE BASEFEE'),
  { code: 0x49, name: 'BLOBHASH', takes: 1, gives: 1, since: 'cancun' },
  { code: 0x4a, name: 'BLOBBASEFEE', takes: 0, gives: 1, since: 'cancun' },
  ...names(0x50, 1, 0, 'POP'),
  ...names(0x51, 1, 1, 'MLOAD'),
  ...names(0x52, 2, 0, 'MSTORE MSTORE8'),
  ...names(0x54, 1, 1, 'SLOAD'),
  { code: 0x55, name: 'SSTORE', takes: 2, gives: 0, writes: true },
  ...names(0x56, 1, 0, 'JUMP'),
  ...names(0x57, 2, 0, 'JUMPI'),
  ...names(0x58, 0, 1, 'PC MSIZE GAS'),
  ...names(0x5b, 0, 0, 'JUMPDEST'),
  { code: 0x5c, name: 'TLOAD', takes: 1, gives: 1, since: 'cancun' },
  { code: 0x5d, name: 'TSTORE', takes: 2, gives: 0, since: 'cancun', writes: true },
  { code: 0x5e, name: 'MCOPY', takes: 3, gives: 0, since: 'cancun' },
  { code: 0x5f, name: 'PUSH0', takes: 0, gives: 1, since: 'shanghai' },
  ...upTo(32, (n): Opcode => ({ code: 0x5f + n, name: `PUSH${n}`, takes: 0, gives: 1 })),
  ...upTo(16, (n): Opcode => ({ code: 0x7f + n, name: `DUP${n}`, takes: n, gives: n + 1 })),
  ...upTo(16, (n): Opcode => ({ code: 0x8f + n, name: `SWAP${n}`, takes: n + 1, gives: n + 1 })),
  ...upTo(5, (n): Opcode => ({ code: 0x9f + n, name: `LOG${n - 1}`, takes: n + 1, gives: 0, writes: true })),
  { code: 0xf0, name: 'CREATE', takes: 3, gives: 1, writes: true },
  { code: 0xf1, name: 'CALL', takes: 7, gives: 1, writes: true },
  ...names(0xf2, 7, 1, 'CALLCODE'),
  ...names(0xf3, 2, 0, 'RETURN'),
  ...names(0xf4, 6, 1, 'DELEGATECALL'),
  { code: 0xf5, name: 'CREATE2', takes: 4, gives: 1, writes: true },
  ...names(0xfa, 6, 1, 'STATICCALL'),
  ...names(0xfd, 2, 0, 'REVERT'),
  { code: 0xff, name: 'SELFDESTRUCT', takes: 1, gives: 0, writes: true },
]

/** True when a fork has the rules of another. */
export const hasFork = (fork: EvmFork, since: EvmFork): boolean => evmForks.indexOf(fork) >= evmForks.indexOf(since)

/** Opcodes of a fork. */
export function opcodesOf(fork: EvmFork): Opcode[] {
  return opcodes.filter(({ since }) => since === undefined || hasFork(fork, since))
}
