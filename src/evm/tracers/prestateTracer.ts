import { bytesFromBigint, emptyBytes, equalBytes } from '#lib/bytes'
import { type Hex, toHex, toQuantity } from '#lib/hex'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import type { FrameStart, StateReader, TraceJson, Tracer, TraceStep } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { noEvents } from './noEvents.ts'
import { Touched, touchingOps } from './touched.ts'
import { switchesOf } from './tracerConfig.ts'

/** An account at one time, with its relevant slots. */
type Seen = {
  readonly exists: boolean
  readonly balance: bigint
  readonly nonce: bigint
  readonly code: Uint8Array
  readonly slots: ReadonlyMap<Hash, bigint>
}

type Parts = { readonly code: boolean; readonly storage: boolean }
type Entry = readonly [Address, TraceJson]

const wordHex = (value: bigint): Hex => toHex(bytesFromBigint(value, 32))

function seenIn(reader: StateReader, address: Address, slots: readonly Hash[], parts: Parts): Seen {
  const account = reader.account(address)
  const hasCode = account !== undefined && account.codeHash !== emptyCodeHash
  return {
    exists: account !== undefined,
    balance: account?.balance ?? 0n,
    nonce: account?.nonce ?? 0n,
    code: parts.code && hasCode ? reader.code(address) : emptyBytes,
    slots: new Map(parts.storage ? slots.map((slot) => [slot, reader.slot(address, slot)]) : []),
  }
}

function storageJson(slots: ReadonlyMap<Hash, bigint>): { readonly storage?: TraceJson } {
  return slots.size === 0 ? {} : { storage: Object.fromEntries([...slots].map(([slot, value]) => [slot, wordHex(value)])) }
}

/** Formats an account; nonce and code only when it has them. */
function wholeJson({ balance, nonce, code, slots }: Seen): TraceJson {
  return {
    balance: toQuantity(balance),
    ...(code.length > 0 && { code: toHex(code) }),
    ...(nonce > 0n && { nonce: Number(nonce) }),
    ...storageJson(slots),
  }
}

const nonZero = (slots: ReadonlyMap<Hash, bigint>): ReadonlyMap<Hash, bigint> => new Map([...slots].filter(([, value]) => value !== 0n))

/** Reduces both to the slots that differ between them, without zero values. */
function changedSlots(pre: Seen, post: Seen): readonly [Seen, Seen] {
  const differs = (slot: Hash): boolean => pre.slots.get(slot) !== post.slots.get(slot)
  const changed = (seen: Seen): Seen => ({ ...seen, slots: nonZero(new Map([...seen.slots].filter(([slot]) => differs(slot)))) })
  return [changed(pre), changed(post)]
}

function isChanged(pre: Seen, post: Seen): boolean {
  const isSame = pre.exists === post.exists && pre.balance === post.balance && pre.nonce === post.nonce && equalBytes(pre.code, post.code)
  return !isSame || [...pre.slots].some(([slot, value]) => post.slots.get(slot) !== value)
}

/** Returns the fields of an account that changed, with their new values. */
function changesJson(pre: Seen, post: Seen): TraceJson {
  return {
    ...(post.balance !== pre.balance && { balance: toQuantity(post.balance) }),
    ...(!equalBytes(pre.code, post.code) && { code: toHex(post.code) }),
    ...(post.nonce !== pre.nonce && { nonce: Number(post.nonce) }),
    ...storageJson(post.slots),
  }
}

/** Returns the entries of a changed account: its previous state, unless it was created, and its changes, unless it was removed. */
function diffOf(
  address: Address,
  before: Seen,
  after: Seen,
  isCreated: boolean,
): { readonly pre: readonly Entry[]; readonly post: readonly Entry[] } {
  if (!isChanged(before, after)) return { pre: [], post: [] }
  const [pre, post] = changedSlots(before, after)
  return {
    pre: isCreated && !before.exists ? [] : [[address, wholeJson(pre)]],
    post: after.exists ? [[address, changesJson(pre, post)]] : [],
  }
}

/**
 * Creates a tracer that returns the state a transaction needs: every accessed account and slot as before the transaction. An account that does not
 * exist has a balance of zero.
 * @param config `diffMode`: changes before and after, without created accounts in the former; `disableCode`, `disableStorage`
 * @throws Fault INVALID_TRACER_CONFIG
 * @see go-ethereum documentation, "Built-in tracers", prestateTracer
 */
export function createPrestateTracer(config: unknown, budget: Budget): Tracer {
  const { diffMode, disableCode, disableStorage } = switchesOf('prestateTracer', config, ['diffMode', 'disableCode', 'disableStorage'])
  const parts: Parts = { code: !disableCode, storage: !disableStorage }
  const touched = new Touched(budget)
  let answer: TraceJson = null

  const seen = (reader: StateReader, address: Address, slots: readonly Hash[]): Seen => {
    const found = seenIn(reader, address, slots, parts)
    budget.take(2 * found.code.length)
    return found
  }
  const wholeOf = (before: StateReader, after: StateReader): TraceJson =>
    Object.fromEntries(touched.list([before, after]).map(({ address, slots }) => [address, wholeJson(seen(before, address, slots))]))
  const diffsOf = (before: StateReader, after: StateReader): TraceJson => {
    const diffs = touched
      .list([before, after])
      .map(({ address, slots }) => diffOf(address, seen(before, address, slots), seen(after, address, slots), touched.isCreated(address)))
    return { post: Object.fromEntries(diffs.flatMap(({ post }) => post)), pre: Object.fromEntries(diffs.flatMap(({ pre }) => pre)) }
  }

  return {
    ...noEvents,
    needs: { frames: true, logs: false, accounts: true, steps: { ops: touchingOps, stackWords: 2, memory: false, returnData: false } },
    begin({ from }): void {
      touched.account(from)
    },
    onEnter: (frame: FrameStart) => touched.enter(frame),
    onStep: (step: TraceStep) => touched.step(step),
    onAccount: (address: Address) => touched.account(address),
    onNativeAccess: (address: Address, slot: Hash | undefined) => touched.access(address, slot),
    end(_end, before, after): void {
      answer = diffMode ? diffsOf(before, after) : wholeOf(before, after)
    },
    result: () => answer,
  }
}
