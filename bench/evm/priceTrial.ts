// Time per gas of one precompile or opcode: a program that repeats it, run by an interpreter over a state in memory.
import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, Evm, StateView } from '#evm/ports'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type Address, emptyRoot, hashFromBytes, zeroAddress, zeroHash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'

/** One input of one precompile, or one program of one opcode. */
export type Trial = {
  /** description of the input */
  readonly label: string
  readonly rules: EvmRules
  readonly view: StateView
  readonly to: Address
  /** call data for a number of repetitions */
  readonly dataFor: (repetitions: number) => Uint8Array
  /** maximum of repetitions; default: no limit */
  readonly mostRepetitions?: number
}

export type PricedAccount = {
  readonly address: Address
  readonly code?: Uint8Array
  readonly balance?: bigint
  readonly slots?: Iterable<readonly [slot: Uint8Array, value: Uint8Array]>
}

export const priceCaller = zeroAddress
const callGas = 2n ** 44n
const block: BlockEnv = {
  chainId: 901n,
  number: 300,
  timestamp: 1_700_000_000,
  beneficiary: zeroAddress,
  prevRandao: zeroHash,
  gasLimit: callGas,
  baseFee: 0n,
  blobBaseFee: 1n,
}

export function priceView(accounts: readonly PricedAccount[]): StateView {
  const none = new Uint8Array(0)
  const keys = accounts.map(({ address }) => keccak256(fromHex(address)))
  const storing = new Set(accounts.flatMap(({ slots }, i) => (slots ? [toHex(keys[i] ?? none)] : [])))
  const hashOf = (code: Uint8Array) => hashFromBytes(keccak256(code))
  const codes = new Map(accounts.flatMap(({ code }) => (code ? [[hashOf(code), code]] : [])))
  const diff = createStateDiff({
    accounts: accounts.map(({ code = none, balance = 0n }, i) => ({
      key: keys[i] ?? none,
      change: { nonce: 1n, balance, codeHash: hashOf(code) },
      wiped: false,
    })),
    slots: accounts.flatMap(({ slots = [] }, i) =>
      Array.from(slots, ([slot, value]) => ({ addressKey: keys[i] ?? none, slotKey: keccak256(slot), value })),
    ),
    codes: [],
  })
  return {
    account(key) {
      const change = diff.account(key)
      return change ? { ...change, storageRoot: storing.has(toHex(key)) ? zeroHash : emptyRoot } : undefined
    },
    slot: (addressKey, slotKey) => diff.slot(addressKey, slotKey),
    code: (codeHash) => codes.get(codeHash) ?? none,
    blockHash: () => zeroHash,
  }
}

export type Cost = { readonly ns: number; readonly gas: number }

/** Above this a wall clock includes other programs of the machine, and the CPU clock is precise enough. */
const longMs = 60

/** Time since `start`, in ns: wall-clock time, or CPU time of this thread for a long run. */
function elapsedNs(start: { readonly ms: number; readonly cpu: NodeJS.CpuUsage }): number {
  const ms = performance.now() - start.ms
  const { user, system } = process.threadCpuUsage(start.cpu)
  return ms > longMs ? (user + system) * 1_000 : ms * 1e6
}

/** Runs one message. @throws Error when it fails: then the program is wrong, since its inner calls may fail */
export function runTrial(evm: Evm, trial: Trial, repetitions: number): Cost {
  const data = trial.dataFor(repetitions)
  const gas = callGas
  using session = evm.open(trial.view, block, trial.rules)
  session.beginTransaction({ origin: priceCaller, gasPrice: 0n, blobHashes: [zeroHash], warm: [] })
  const start = { cpu: process.threadCpuUsage(), ms: performance.now() }
  const outcome = session.run({ caller: priceCaller, to: trial.to, value: 0n, data, gas })
  const ns = elapsedNs(start)
  if (outcome.kind !== 'success') throw new Error(`${trial.label}: ${outcome.kind}${outcome.kind === 'halt' ? ` ${outcome.reason}` : ''}`)
  return { ns, gas: Number(gas - outcome.gasLeft) }
}

/** Returns the number of repetitions that take a measurable time, one at least. */
export function repetitionsFor(evm: Evm, trial: Trial, ns: number): number {
  const most = trial.mostRepetitions ?? 2 ** 22
  let repetitions = 1
  for (;;) {
    const taken = Math.max(1_000, runTrial(evm, trial, repetitions).ns)
    if (taken >= ns / 2 || repetitions >= most) return Math.max(1, Math.min(most, Math.ceil((repetitions * ns) / taken)))
    repetitions = Math.min(most, Math.ceil(repetitions * Math.min(8, Math.max(2, ns / taken))))
  }
}

export const nsPerGas = ({ ns, gas }: Cost): number => ns / gas
