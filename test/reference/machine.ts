import type { EvmFork, EvmRules } from '#chainspec/evmRules'
import type { InterruptCheck } from '#evm/ports'
import type { Precompile } from '#evm/precompiles/precompile'
import { precompileAt } from '#evm/precompiles/precompileAt'
import type { NativeRules } from '#nativeContracts/rules'
import { type Address, emptyCodeHash } from '#types/ids'
import type { Code, CodeCache } from './code.ts'
import { charge, type Frame } from './frame.ts'
import { gas } from './gas.ts'
import type { AccountState, Journal } from './journal.ts'
import { clearMemory, createMemory, type Memory } from './linearMemory.ts'
import { oldForkOf } from './oldForks.ts'
import { oldPrecompiles } from './oldPrecompiles.ts'
import type { OldRules } from './oldRules.ts'
import type { WordMap, WordSet } from './wordMap.ts'
import type { Word } from './words.ts'

export type Operation = (frame: Frame, machine: Machine) => void

/** Implementation and requirements of each opcode under one fork: arrays of 256. */
export type OperationTable = {
  readonly run: readonly Operation[]
  readonly gas: readonly number[]
  /** Minimum and maximum number of words on the stack. */
  readonly atLeast: readonly number[]
  readonly atMost: readonly number[]
}

export type BlockWords = {
  readonly chainId: Word
  readonly number: Word
  readonly timestamp: Word
  readonly beneficiary: Word
  readonly prevRandao: Word
  readonly gasLimit: Word
  readonly baseFee: Word
  readonly blobBaseFee: Word
}

export type TransactionWords = {
  readonly origin: Word
  readonly gasPrice: Word
  readonly blobHashes: readonly Word[]
  readonly warmAccounts: Pick<WordSet, 'has'>
  readonly warmSlots: Pick<WordMap<Pick<WordSet, 'has'>>, 'get'>
}

/** State shared by the operations of one session. */
export type Machine = {
  readonly fork: EvmFork
  /** EIP-3860, EIP-3651. */
  readonly isShanghai: boolean
  /** EIP-6780. */
  readonly isCancun: boolean
  /** EIP-7702. */
  readonly isPrague: boolean
  readonly rules: EvmRules
  readonly natives: NativeRules | undefined
  /** Native contracts that start warm. */
  readonly alwaysWarm: readonly Address[]
  /** Set for rules before Paris. */
  readonly old: OldRules | undefined
  readonly operations: OperationTable
  readonly journal: Journal
  readonly codes: CodeCache
  readonly block: BlockWords
  transaction: TransactionWords
  /** Refund counter of EIP-3529. */
  refund: number
  interruptCheck: InterruptCheck | undefined
  /** Instructions until the next call of `interruptCheck`. */
  untilPace: number
  /** Running and waiting frames, the innermost last. */
  readonly frames: Frame[]
  /** Stacks and memories by depth, for reuse by later frames. */
  readonly stacks: Word[][]
  readonly memories: Memory[]
}

/** The end of a message. */
export type Ended = {
  readonly state: Exclude<Frame['state'], 'running' | 'waiting'>
  readonly gas: number
  readonly reserve: bigint
  readonly output: Uint8Array
  readonly created?: Word
}

const precompileLimit = 0x1_0000n

export function precompileOf(machine: Machine, address: Word): Precompile | undefined {
  const { rules } = machine
  const old = oldForkOf(rules)
  if (old !== undefined) return oldPrecompiles(old).get(address)
  return address < precompileLimit || rules.precompilesAt !== undefined ? precompileAt(rules, address) : undefined
}

export function codeOf(machine: Machine, account: AccountState): Code {
  const { codeHash } = account
  if (codeHash !== emptyCodeHash) account.isCoded = true
  return machine.codes.get(codeHash, () => machine.journal.code(codeHash))
}

export function isWarmAccount(machine: Machine, address: Word): boolean {
  return (
    machine.journal.isWarm(machine.journal.known(address)) ||
    machine.transaction.warmAccounts.has(address) ||
    (address < precompileLimit && precompileOf(machine, address) !== undefined)
  )
}

/**
 * Charges for an account access (EIP-2929), then loads the account. An access that cannot be paid does not read the view.
 * @returns undefined when the frame ran out of gas
 */
export function accessAccount(frame: Frame, machine: Machine, address: Word, warmCost: number = gas.warm): AccountState | undefined {
  const hasWarmth = machine.old === undefined || machine.old.hasWarmth
  if (hasWarmth && !charge(frame, isWarmAccount(machine, address) ? warmCost : gas.coldAccount)) return undefined
  const account = machine.journal.account(address)
  machine.journal.warm(account)
  return account
}

export function isWarmSlot(machine: Machine, account: AccountState, number: Word): boolean {
  return (
    machine.journal.isWarm(machine.journal.knownSlot(account, number)) ||
    machine.transaction.warmSlots.get(account.address)?.has(number) === true
  )
}

type FrameParts = Omit<Frame, 'stack' | 'memory' | 'refundBefore' | 'pc' | 'sp' | 'returnData' | 'state' | 'output'>

const nothing = new Uint8Array(0)

/** Creates a frame at its first instruction. Reuses stack and memory of an earlier frame of the same depth. */
export function createFrame(machine: Machine, parts: FrameParts): Frame {
  const { depth } = parts
  machine.stacks[depth] ??= []
  machine.memories[depth] ??= createMemory()
  return {
    kind: parts.kind,
    code: parts.code,
    self: parts.self,
    caller: parts.caller,
    value: parts.value,
    input: parts.input,
    isStatic: parts.isStatic,
    depth,
    checkpoint: parts.checkpoint,
    refundBefore: machine.refund,
    stack: machine.stacks[depth],
    memory: machine.memories[depth],
    outputTo: parts.outputTo,
    outputSize: parts.outputSize,
    pc: 0,
    sp: 0,
    gas: parts.gas,
    reserve: parts.reserve,
    returnData: nothing,
    state: 'running',
    output: nothing,
  }
}

/** Closes a frame: undoes a failed frame's changes, and releases its memory. */
export function closeFrame(machine: Machine, frame: Frame): void {
  if (frame.state !== 'success') {
    machine.journal.revertTo(frame.checkpoint)
    machine.refund = frame.refundBefore
  }
  clearMemory(frame.memory)
}
