import { bytesFromBigint } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { delegateIn } from '#types/account'
import type { Address, Hash } from '#types/ids'
import type { FrameStart, StateReader, TraceStep } from '../traceEvents.ts'
import type { Budget } from './budget.ts'
import { opcode } from './opcodeNames.ts'

const slotOps: readonly number[] = [opcode.sload, opcode.sstore]
const callOps: readonly number[] = [opcode.call, opcode.callcode, opcode.delegatecall, opcode.staticcall]
/** Opcodes with the account on top of the stack. */
const accountOps: readonly number[] = [opcode.balance, opcode.extcodesize, opcode.extcodecopy, opcode.extcodehash, opcode.selfdestruct]

/** Opcodes that access an account or a slot. */
export const touchingOps: readonly number[] = [...slotOps, ...callOps, ...accountOps]

const addressMask = (1n << 160n) - 1n
const addressOf = (word: bigint): Address => toHex(bytesFromBigint(word & addressMask, 20)) as Address
/** Approximate JSON size of an account and of a slot, in characters. */
const accountBytes = 120
const slotBytes = 140

/** Collects the accounts and slots that a transaction accesses. */
export class Touched {
  readonly #budget: Budget
  readonly #slots = new Map<Address, Set<Hash>>()
  readonly #called = new Set<Address>()
  readonly #created = new Set<Address>()
  /** Storage accounts of the open frames. */
  readonly #selves: Address[] = []

  constructor(budget: Budget) {
    this.#budget = budget
  }

  account(address: Address): void {
    if (this.#slots.has(address)) return
    this.#budget.take(accountBytes)
    this.#slots.set(address, new Set())
  }

  enter({ kind, depth, from, to, self }: FrameStart): void {
    this.#selves[depth] = self
    this.account(from)
    if (kind === 'CREATE' || kind === 'CREATE2') this.#created.add(to)
    if (kind === 'CREATE' || kind === 'CREATE2' || kind === 'SELFDESTRUCT') this.account(to)
    else this.#call(to)
  }

  /** Records the accesses of a step; other opcodes access nothing. */
  step(step: TraceStep): void {
    const { op, stackSize } = step
    if (slotOps.includes(op) && stackSize > 0) this.#slot(step)
    else if (callOps.includes(op) && stackSize > 1) this.#call(addressOf(step.stack(1)))
    else if (accountOps.includes(op) && stackSize > 0) this.account(addressOf(step.stack(0)))
  }

  /** Returns whether a creation tried to create a contract at the address. */
  isCreated(address: Address): boolean {
    return this.#created.has(address)
  }

  #call(address: Address): void {
    this.account(address)
    this.#called.add(address)
  }

  #slot(step: TraceStep): void {
    const self = this.#selves[step.depth]
    if (self !== undefined) this.access(self, toHex(bytesFromBigint(step.stack(0), 32)) as Hash)
  }

  /** Records an account, and one of its slots if given. */
  access(address: Address, slot: Hash | undefined): void {
    this.account(address)
    if (slot === undefined) return
    const slots = this.#slots.get(address)
    if (slots === undefined || slots.has(slot)) return
    this.#budget.take(slotBytes)
    slots.add(slot)
  }

  /** Returns all accesses in order of addresses and slot numbers, including the delegates whose code calls ran. */
  list(readers: readonly StateReader[]): readonly { readonly address: Address; readonly slots: readonly Hash[] }[] {
    for (const address of this.#called) {
      for (const reader of readers) {
        const delegate = delegateIn(reader.code(address))
        if (delegate !== undefined) this.account(toHex(delegate) as Address)
      }
    }
    const sorted = [...this.#slots].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return sorted.map(([address, slots]) => ({ address, slots: [...slots].toSorted() }))
  }
}
