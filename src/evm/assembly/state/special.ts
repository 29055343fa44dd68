// Addresses whose code the host runs: precompiles below 0x400 and native contracts.
import { ctxNatives, ctxPrecompiles } from '../layout'

function isPrecompile(low: u64, middle: u64, high: u32): bool {
  if ((middle | <u64>high) !== 0 || low >= 0x400) return false
  return ((load<u8>(<usize>ctxPrecompiles + <usize>(low >>> 3)) >>> (<u8>low & 7)) & 1) !== 0
}

/**
 * Returns the number of the native contract at an address, as in nativeContracts/addresses.ts; 0 when there is none. Every address of the tokens'
 * form is native.
 */
export function nativeNumber(low: u64, middle: u64, high: u32): u32 {
  const version = load<u32>(ctxNatives)
  if (version === 0) return 0
  // a token: b2, nine zero bytes, a variant of 0 or 1, nine bytes of a hash
  if (high === 0xb2000000) return middle >>> 9 === 0 ? 6 + <u32>(middle >>> 8) : 0
  if (middle !== 0) return 0
  if (high === 0x84530000) return low === 1 || low === 2 ? <u32>low + 1 : 0
  if (high === 0xb20f0000) return low === 0 ? 1 : 0
  return high === 0x81300000 && version > 1 && (low === 0xaa01 || low === 0xaa02) ? 4 + <u32>(low - 0xaa01) : 0
}

/** Returns whether every transaction starts with the address warm: precompiles and native contracts except tokens. */
export function isAlwaysWarm(low: u64, middle: u64, high: u32): bool {
  if (isPrecompile(low, middle, high)) return true
  const native = nativeNumber(low, middle, high)
  return native !== 0 && native < 6
}
