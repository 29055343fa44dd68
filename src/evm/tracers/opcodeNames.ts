const names: Readonly<Record<number, string>> = {
  ...named(0x00, 'STOP ADD MUL SUB DIV SDIV MOD SMOD ADDMOD MULMOD EXP SIGNEXTEND'),
  ...named(0x10, 'LT GT SLT SGT EQ ISZERO AND OR XOR NOT BYTE SHL SHR SAR CLZ'),
  ...named(0x20, 'KECCAK256'),
  ...named(0x30, 'ADDRESS BALANCE ORIGIN CALLER CALLVALUE CALLDATALOAD CALLDATASIZE CALLDATACOPY CODESIZE CODECOPY GASPRICE'),
  ...named(0x3b, 'EXTCODESIZE EXTCODECOPY RETURNDATASIZE RETURNDATACOPY EXTCODEHASH'),
  ...named(0x40, 'BLOCKHASH COINBASE TIMESTAMP NUMBER DIFFICULTY GASLIMIT CHAINID SELFBALANCE BASEFEE BLOBHASH BLOBBASEFEE'),
  ...named(0x50, 'POP MLOAD MSTORE MSTORE8 SLOAD SSTORE JUMP JUMPI PC MSIZE GAS JUMPDEST TLOAD TSTORE MCOPY'),
  ...numbered(0x5f, 'PUSH', 0, 32),
  ...numbered(0x80, 'DUP', 1, 16),
  ...numbered(0x90, 'SWAP', 1, 16),
  ...numbered(0xa0, 'LOG', 0, 4),
  ...named(0xf0, 'CREATE CALL CALLCODE RETURN DELEGATECALL CREATE2'),
  ...{ 250: 'STATICCALL', 253: 'REVERT', 254: 'INVALID', 255: 'SELFDESTRUCT' },
}

function named(from: number, list: string): Record<number, string> {
  return Object.fromEntries(list.split(' ').map((name, i) => [from + i, name]))
}

function numbered(from: number, name: string, first: number, last: number): Record<number, string> {
  return Object.fromEntries(Array.from({ length: last - first + 1 }, (_, i) => [from + i, `${name}${first + i}`]))
}

/** Returns the name of an opcode in traces; the name of an undefined opcode contains its number. */
export function opcodeName(op: number): string {
  return names[op] ?? `opcode 0x${op.toString(16)} not defined`
}

/** Opcodes that tracers handle. @see yellow paper, appendix H */
export const opcode = {
  stop: 0x00,
  balance: 0x31,
  extcodesize: 0x3b,
  extcodecopy: 0x3c,
  extcodehash: 0x3f,
  sload: 0x54,
  sstore: 0x55,
  create: 0xf0,
  call: 0xf1,
  callcode: 0xf2,
  return: 0xf3,
  delegatecall: 0xf4,
  create2: 0xf5,
  staticcall: 0xfa,
  revert: 0xfd,
  selfdestruct: 0xff,
} as const
