import { Buffer } from 'node:buffer'
import { bigintFromBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'

/** First four bytes of keccak of `Error(string)` and `Panic(uint256)`. @see Solidity documentation, "Control Structures: panic, error" */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

/** Other clients' texts for Solidity's panics in traces; `eth_call` uses different texts. */
const panics: Readonly<Record<string, string>> = {
  '0': 'generic panic',
  '1': 'assert(false)',
  '17': 'arithmetic underflow or overflow',
  '18': 'division or modulo by zero',
  '33': 'enum overflow',
  '34': 'invalid encoded storage byte array accessed',
  '49': 'out-of-bounds array access; popping on an empty array',
  '50': 'out-of-bounds access of an array or bytesN',
  '65': 'out of memory',
  '81': 'uninitialized function',
}

function wordAt(bytes: Uint8Array, at: number): bigint | undefined {
  return bytes.length < at + 32 ? undefined : bigintFromBytes(bytes.subarray(at, at + 32))
}

function stringOf(args: Uint8Array): string | undefined {
  const offset = wordAt(args, 0)
  if (offset === undefined || offset > BigInt(args.length)) return undefined
  const length = wordAt(args, Number(offset))
  const from = Number(offset) + 32
  if (length === undefined || length > BigInt(args.length - from)) return undefined
  return Buffer.from(args.subarray(from, from + Number(length))).toString('utf8')
}

function panicOf(args: Uint8Array): string | undefined {
  const code = wordAt(args, 0)
  return code === undefined ? undefined : (panics[code.toString()] ?? `unknown panic code: 0x${code.toString(16)}`)
}

/** Returns the reason of a revert in a trace, for Solidity's two built-in errors only. @param output revert data */
export function revertReason(output: Uint8Array): string | undefined {
  const selector = toHex(output.subarray(0, 4))
  if (selector === errorSelector) return stringOf(output.subarray(4))
  return selector === panicSelector ? panicOf(output.subarray(4)) : undefined
}
