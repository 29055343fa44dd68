import { keccak256 } from '#lib/keccak'
import { type Address, emptyRoot, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import type { Evm, StateView } from './ports.ts'

const address = '0x000000000000000000000000000000000000c0de' as Address

/**
 * Calls itself as often as the word in its calldata says. A call without calldata hashes a key derived from its remaining gas and increments the slot
 * with that key, as tokens and pools do.
 */
const program = Uint8Array.from([
  ...[0x36, 0x60, 0x26, 0x57], // if CALLDATASIZE: to 0x26
  ...[0x5a, 0x60, 0xff, 0x16, 0x60, 0x00, 0x52], // word 0 of memory = GAS & 0xff
  ...[0x60, 0x07, 0x60, 0x20, 0x52], // word 1 = 7
  ...[0x60, 0x40, 0x60, 0x00, 0x20], // key = SHA3(0, 64)
  ...[0x80, 0x54, 0x60, 0x01, 0x01, 0x90, 0x55], // slot[key] += 1
  ...[0x60, 0x20, 0x60, 0x00, 0xa0, 0x60, 0x20, 0x60, 0x00, 0xf3], // LOG0(0, 32), RETURN(0, 32)
  ...[0x5b, 0x60, 0x00, 0x35], // 0x26: n = CALLDATALOAD(0)
  // 0x2a: CALL(GAS, ADDRESS, 0, 0, 0, 0, 32), n -= 1, while n is not 0
  ...[0x5b, 0x60, 0x20, 0x60, 0x00, 0x60, 0x00, 0x60, 0x00, 0x60, 0x00, 0x30, 0x5a, 0xf1, 0x50],
  ...[0x60, 0x01, 0x90, 0x03, 0x80, 0x60, 0x2a, 0x57, 0x00],
])

const account = { nonce: 1n, balance: 0n, codeHash: hashFromBytes(keccak256(program)), storageRoot: emptyRoot }
const view: StateView = { account: () => account, slot: () => undefined, code: () => program, blockHash: () => undefined }
const rounds = 2_000

/**
 * Runs an interpreter for about 20 ms, so that V8 starts to optimise it before the first block arrives. All threads of the process share the
 * compiled code.
 */
export function warmUp(evm: Evm): void {
  const block = {
    chainId: 1n,
    number: 1,
    timestamp: 0,
    beneficiary: zeroAddress,
    prevRandao: zeroHash,
    gasLimit: 2n ** 40n,
    baseFee: 0n,
    blobBaseFee: 1n,
  }
  using session = evm.open(view, block, { fork: 'prague', precompileLimits: {} })
  session.beginTransaction({ origin: zeroAddress, gasPrice: 0n, blobHashes: [], warm: [] })
  const data = new Uint8Array(32)
  new DataView(data.buffer).setUint32(28, rounds)
  session.run({ caller: zeroAddress, to: address, value: 0n, data, gas: 2n ** 40n })
}
