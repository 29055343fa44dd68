import type { FrameEnd, FrameStart, StateReader, TracedTransaction, Tracer, TraceStep } from '#evm/traceEvents'
import { emptyBytes } from '#lib/bytes'
import { type Hex, toQuantity } from '#lib/hex'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import { addressOf } from './host.ts'

/** Events written by hand, for cases that are not recorded. */

export const [alice, bob, carol] = [addressOf(0xaa), addressOf(0xbb), addressOf(0xcc)] as const
export const slotNumber = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}` as Hash

export const transaction = (change: Partial<TracedTransaction> = {}): TracedTransaction => ({
  ...{ from: alice, to: bob, value: 0n, data: emptyBytes, gas: 100_000 },
  ...{ blockHash: undefined, blockNumber: 7, hash: undefined, index: 0 },
  ...change,
})

export const frame = (change: Partial<FrameStart> = {}): FrameStart => ({
  ...{
    kind: 'CALL',
    depth: 0,
    from: alice,
    to: bob,
    self: change.to ?? bob,
    value: 0n,
    gas: 79_000,
    input: emptyBytes,
    isPrecompile: false,
  },
  ...change,
})

export const ended = (change: Partial<FrameEnd> = {}): FrameEnd => ({
  ...{ depth: 0, gasUsed: 0, output: emptyBytes, end: 'success', opcode: undefined },
  ...change,
})

/** Call by the callee of the message, and its end. */
export const inner = (change: Partial<FrameStart> = {}): FrameStart => frame({ depth: 1, from: bob, to: carol, gas: 30_000, ...change })
export const innerEnd = (change: Partial<FrameEnd> = {}): FrameEnd => ended({ depth: 1, gasUsed: 1_000, ...change })

export const wordsOf = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes)

type Step = Partial<Pick<TraceStep, 'pc' | 'op' | 'depth' | 'gas' | 'refund' | 'staticCost'>> & {
  /** The top of the stack is last. */
  readonly words?: readonly bigint[]
  readonly memory?: Uint8Array
  readonly returned?: Uint8Array
}

export function step({ words = [], memory = emptyBytes, returned = emptyBytes, ...rest }: Step): TraceStep {
  return {
    ...{ pc: 0, op: 0, depth: 0, gas: 0, refund: 0, staticCost: 0, ...rest },
    stackSize: words.length,
    stack(below): bigint {
      const word = words.at(-1 - below)
      if (word === undefined) throw new RangeError(`no word ${below} on the stack`)
      return word
    },
    stackHex(below): Hex {
      return toQuantity(this.stack(below))
    },
    memory: () => memory,
    returnData: () => returned,
  }
}

type Kept = {
  readonly balance?: bigint
  readonly nonce?: bigint
  readonly code?: Uint8Array
  readonly slots?: Readonly<Record<Hash, bigint>>
}

/** State of a few accounts. */
export function stateOf(accounts: Readonly<Record<Address, Kept>>): StateReader {
  return {
    account(address) {
      const found = accounts[address]
      if (found === undefined) return undefined
      const codeHash = found.code === undefined ? emptyCodeHash : (`0x${'11'.repeat(32)}` as Hash)
      return { nonce: found.nonce ?? 0n, balance: found.balance ?? 0n, codeHash, storageRoot: emptyRoot }
    },
    slot: (address, slot) => accounts[address]?.slots?.[slot] ?? 0n,
    code: (address) => accounts[address]?.code ?? emptyBytes,
  }
}

/** Returns the result of a tracer for these events. */
export function traceOf(
  tracer: Tracer,
  tell: (tracer: Tracer) => void,
  given: {
    readonly transaction?: TracedTransaction
    readonly gasUsed?: number
    readonly succeeded?: boolean
    readonly before?: StateReader
    readonly after?: StateReader
  } = {},
): unknown {
  const nothing = stateOf({})
  tracer.begin(given.transaction ?? transaction())
  tell(tracer)
  tracer.end({ gasUsed: given.gasUsed ?? 21_000, succeeded: given.succeeded ?? true }, given.before ?? nothing, given.after ?? nothing)
  return tracer.result()
}
