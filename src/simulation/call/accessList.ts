import type { ParentBlock } from '#block/execution/executeBlock'
import type { EvmRules } from '#chainspec/evmRules'
import { precompileNames } from '#chainspec/precompileNames'
import type { FrameStart, TraceListener, TraceStep } from '#evm/traceEvents'
import type { TracedEvm } from '#evm/wasmEvm'
import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { warmNativeContracts } from '#nativeContracts/addresses'
import type { CallMessage, CallOverrides, ListedCall, MeasuredCall } from '#rpc/callPorts'
import type { Address, Hash } from '#types/ids'
import type { AccessList } from '#types/transaction'
import { type CallDeps, callContext, envFor, runCall } from './callExecutor.ts'
import { measureMessage, notRun } from './runMessage.ts'

const slotOps: readonly number[] = [0x54, 0x55] // SLOAD, SSTORE
const callOps: readonly number[] = [0xf1, 0xf2, 0xf4, 0xfa] // CALL, CALLCODE, DELEGATECALL, STATICCALL
const accountOps: readonly number[] = [0x31, 0x3b, 0x3c, 0x3f, 0xff] // BALANCE, EXTCODESIZE, EXTCODECOPY, EXTCODEHASH, SELFDESTRUCT
const addressMask = (1n << 160n) - 1n

/** Collects the accounts and slots that a message accesses. An account that is always warm is listed only if it has slots. */
class Reached implements TraceListener {
  readonly needs: TraceListener['needs'] = {
    frames: true,
    logs: false,
    accounts: true,
    steps: { ops: [...slotOps, ...callOps, ...accountOps], stackWords: 2, memory: false, returnData: false },
  }
  readonly #slots: Map<Address, Set<Hash>>
  readonly #warm: Set<Address>
  /** addresses of the open frames, by depth */
  readonly #selves: Address[] = []

  constructor(message: CallMessage, rules: EvmRules) {
    this.#slots = new Map(message.accessList.map(({ address, slots }) => [address, new Set(slots)]))
    const natives = rules.nativeContracts ? warmNativeContracts(rules.nativeContracts.fork) : []
    this.#warm = new Set([message.from, ...precompileNames(rules).values(), ...natives])
  }

  onEnter({ depth, self, to }: FrameStart): void {
    this.#selves[depth] = self
    if (depth === 0) this.#warm.add(to)
  }

  onStep(step: TraceStep): void {
    const { op, stackSize } = step
    if (slotOps.includes(op) && stackSize > 0) this.#slot(step)
    else if (callOps.includes(op) && stackSize > 1) this.#account(step.stack(1))
    else if (accountOps.includes(op) && stackSize > 0) this.#account(step.stack(0))
  }

  onLeave(): void {}
  onLog(): void {}
  onAccount(): void {}

  onNativeAccess(address: Address, slot: Hash | undefined): void {
    if (slot === undefined) this.#address(address)
    else this.#addSlot(address, slot)
  }

  #slot(step: TraceStep): void {
    const self = this.#selves[step.depth]
    if (self !== undefined) this.#addSlot(self, toHex(bytesFromBigint(step.stack(0), 32)) as Hash)
  }

  #addSlot(address: Address, slot: Hash): void {
    const slots = this.#slots.get(address) ?? new Set()
    this.#slots.set(address, slots.add(slot))
  }

  #account(word: bigint): void {
    this.#address(toHex(bytesFromBigint(word & addressMask, 20)) as Address)
  }

  #address(address: Address): void {
    if (!this.#warm.has(address) && !this.#slots.has(address)) this.#slots.set(address, new Set())
  }

  list(): AccessList {
    const sorted = [...this.#slots].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([address, slots]) => ({ address, slots: [...slots].toSorted() }))
  }
}

/**
 * Runs a message and lists the accounts and slots that it accesses. If it succeeds, runs it again with this access list, to measure its gas.
 * @param deps `traced` emits the steps of the first run; `evm` makes the second run
 */
export function listCall(
  deps: CallDeps & { readonly traced: TracedEvm },
  at: ParentBlock,
  message: CallMessage,
  overrides: CallOverrides,
): ListedCall {
  const place = callContext(deps.config, at, overrides)
  if (place.kind === 'refused') return { accessList: message.accessList, measured: notRun(place.refusal) }
  const { view, rules } = place
  const env = envFor(place.env, message, overrides.block)
  const reached = new Reached(message, rules)
  const first = ((): MeasuredCall => {
    using session = deps.traced.open(view, env, rules, reached)
    return measureMessage({ session, env, rules }, message, deps.timer)
  })()
  const accessList = reached.list()
  if (first.outcome.kind !== 'success') return { accessList, measured: first }
  return { accessList, measured: runCall(deps, at, { ...message, accessList }, overrides) }
}
