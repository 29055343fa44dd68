// Our side of the comparison of interpreters: the bench's contracts in memory, and one call to them.
import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, Evm, StateView } from '#evm/ports'
import { equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { type Address, emptyRoot, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { addressOf, caller, codeOf, coldSlots, meter, placed } from './workloads.ts'

/** Enough for 1,000 nested calls, each of which keeps a 64th. */
export const callGas = 2n ** 44n
export const benchChainId = 901

const rules: EvmRules = { fork: 'prague', precompileLimits: {} }
const block: BlockEnv = {
  chainId: BigInt(benchChainId),
  number: 1,
  timestamp: 1_700_000_000,
  beneficiary: zeroAddress,
  prevRandao: zeroHash,
  gasLimit: callGas,
  baseFee: 0n,
  blobBaseFee: 1n,
}

const keyOf = (address: Address): Uint8Array => keccak256(fromHex(address))

function contractsDiff(slotCount: number): StateDiff {
  const accounts = placed.map(({ address, contract }) => ({
    key: keyOf(address),
    change: { nonce: 1n, balance: 0n, codeHash: hashFromBytes(keccak256(codeOf(contract))) },
    wiped: false,
  }))
  const addressKey = keyOf(addressOf('ColdSlots'))
  const slots = Array.from(coldSlots(slotCount), ([slot, value]) => ({ addressKey, slotKey: keccak256(slot), value }))
  const contracts = [...new Set(placed.map(({ contract }) => contract))].map(codeOf)
  return createStateDiff({ accounts, slots, codes: contracts.map((code) => ({ hash: hashFromBytes(keccak256(code)), code })) })
}

/** All contracts and cold slots, in one diff, as after uncommitted blocks. */
export function benchView(slotCount: number): StateView {
  const diff = contractsDiff(slotCount)
  const hasSlots = keyOf(addressOf('ColdSlots'))
  return {
    account(key) {
      const change = diff.account(key)
      // callers only check whether the root is the empty one
      return change ? { ...change, storageRoot: equalBytes(key, hasSlots) ? zeroHash : emptyRoot } : undefined
    },
    slot: (addressKey, slotKey) => diff.slot(addressKey, slotKey),
    code(codeHash) {
      const code = diff.code(codeHash)
      if (code === undefined) throw new RangeError(`no code ${codeHash}`)
      return code
    },
    blockHash: () => undefined,
  }
}

/** Runs one message in a session without keeping its changes, as `eth_call` does. @throws Error when the message fails */
export function callOnce(evm: Evm, view: StateView, data: Uint8Array, to: Address = meter): Uint8Array {
  using session = evm.open(view, block, rules)
  session.beginTransaction({ origin: caller, gasPrice: 0n, blobHashes: [], warm: [] })
  const outcome = session.run({ caller, to, value: 0n, data, gas: callGas - 100_000n })
  if (outcome.kind !== 'success') throw new Error(`the call ends in ${outcome.kind}${outcome.kind === 'halt' ? `: ${outcome.reason}` : ''}`)
  return outcome.output
}

/** Options of the interpreter's suites. */
export type EvmOptions = {
  /** `wasm` or `reference`; default: wasm */
  readonly evm?: string
  readonly rounds?: number
  /** substring of the names of workloads; default: all */
  readonly only?: string
  /** Exit code 1 when a threshold is missed. */
  readonly judge?: boolean
}

/** @throws Error when there is no such interpreter */
export async function chosenEvm(name = 'wasm'): Promise<Evm> {
  if (name === 'reference') return createReferenceEvm()
  if (name !== 'wasm') throw new Error(`no interpreter ${JSON.stringify(name)}: --evm wasm or reference`)
  const { createWasmEvm } = await import('#evm/wasmEvm')
  return createWasmEvm()
}
