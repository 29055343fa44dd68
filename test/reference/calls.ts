import { emptyBytes } from '#lib/bytes'
import type { Code } from './code.ts'
import { charge, ensure, type Frame, pop, push, refund, setGas, totalGas } from './frame.ts'
import { gas, maxDepth } from './gas.ts'
import { type AccountState, isEmpty } from './journal.ts'
import { accessAccount, codeOf, createFrame, type Ended, type Machine, type Operation, precompileOf } from './machine.ts'
import { copyPadded, memorySlice, touchMemory } from './memory.ts'
import { nativeOf, runNativeFrame } from './nativeFrames.ts'
import { addressWord, sizeOf, type Word, wordFromBytes } from './words.ts'

/** A message call whose gas is paid. */
export type Call = {
  /** Account whose storage and balance the code uses. */
  readonly self: AccountState
  readonly caller: Word
  /** Value that CALLVALUE returns. */
  readonly value: Word
  /** Account that pays the value; undefined when no value moves. */
  readonly payer: AccountState | undefined
  /** Address that the code comes from. */
  readonly codeAddress: Word
  /** DELEGATECALL or CALLCODE: the code runs on the caller's storage. */
  readonly isBorrowed: boolean
  readonly code: Code
  readonly input: Uint8Array
  readonly isStatic: boolean
  readonly gas: number
  readonly reserve: bigint
  readonly depth: number
  readonly outputTo: number
  readonly outputSize: number
}

const delegationSize = 23

/** Returns the address to which a code delegates (EIP-7702). */
export function delegateOf(machine: Machine, code: Code): Word | undefined {
  if (!machine.isPrague || code.length !== delegationSize) return undefined
  const { bytes } = code
  return bytes[0] === 0xef && bytes[1] === 1 && bytes[2] === 0 ? wordFromBytes(bytes.subarray(3, delegationSize)) : undefined
}

/** Starts a call. Returns a frame to run, or the end of a call that needs no frame. A refused call returns its gas. */
export function beginCall(machine: Machine, call: Call): Frame | Ended {
  const { journal } = machine
  if (call.depth > maxDepth) return { state: 'call depth', gas: call.gas, reserve: call.reserve, output: emptyBytes }
  if (call.payer && call.payer.balance < call.value) {
    return { state: 'insufficient balance', gas: call.gas, reserve: call.reserve, output: emptyBytes }
  }
  const checkpoint = journal.checkpoint()
  if (call.payer) journal.transfer(call.payer, call.self, call.value)
  const precompile = precompileOf(machine, call.codeAddress)
  if (precompile) {
    const ended = runPrecompile(machine, precompile, call)
    if (ended.state !== 'success') journal.revertTo(checkpoint)
    return ended
  }
  const native = nativeOf(machine, call.codeAddress)
  if (native !== undefined) {
    const refundBefore = machine.refund
    const ended = runNativeFrame(machine, native, call)
    if (ended.state === 'success') return ended
    journal.revertTo(checkpoint)
    machine.refund = refundBefore
    return ended
  }
  if (call.code.length === 0) return { state: 'success', gas: call.gas, reserve: call.reserve, output: emptyBytes }
  return createFrame(machine, { ...call, kind: 'call', checkpoint })
}

function runPrecompile(machine: Machine, precompile: NonNullable<ReturnType<typeof precompileOf>>, call: Call): Ended {
  const input = call.input.slice()
  const price = precompile.gas(input)
  const left = totalGas(call) - price
  if (left < 0n) return { state: 'out of gas', gas: 0, reserve: 0n, output: emptyBytes }
  machine.interruptCheck?.(Number(price))
  const output = precompile.run(input)
  if (!output) return { state: 'precompile failure', gas: 0, reserve: 0n, output: emptyBytes }
  const rest = { gas: 0, reserve: 0n }
  setGas(rest, left)
  return { state: 'success', ...rest, output }
}

/** Delivers the end of a call to the calling frame. */
export function deliverCall(frame: Frame, ended: Ended, outputTo: number, outputSize: number): void {
  refund(frame, ended)
  frame.returnData = ended.output
  const size = Math.min(outputSize, ended.output.length)
  if (size > 0) copyPadded(frame, outputTo, ended.output, 0, size)
  push(frame, ended.state === 'success' ? 1n : 0n)
}

/** Takes the gas of a call before EIP-150: all requested gas. Returns undefined, and halts the frame, when the gas does not suffice. */
function takeAllGas(frame: Frame, wanted: Word): { gas: number; reserve: bigint } | undefined {
  const total = totalGas(frame)
  if (!ensure(frame, wanted <= total, 'out of gas')) return undefined
  const given = { gas: 0, reserve: 0n }
  setGas(given, wanted)
  setGas(frame, total - wanted)
  return given
}

/** Takes the gas of a call: the requested gas, at most all but a 64th (EIP-150), or at most all with `mayTakeAll`. */
export function takeGas(frame: Frame, wanted: Word, mayTakeAll = false): { gas: number; reserve: bigint } {
  if (frame.reserve === 0n) {
    const most = mayTakeAll ? frame.gas : frame.gas - Math.floor(frame.gas / 64)
    const given = wanted < BigInt(most) ? Number(wanted) : most
    frame.gas -= given
    return { gas: given, reserve: 0n }
  }
  const total = totalGas(frame)
  const most = mayTakeAll ? total : total - total / 64n
  const given = { gas: 0, reserve: 0n }
  const exact = wanted < most ? wanted : most
  setGas(given, exact)
  setGas(frame, total - exact)
  return given
}

/** Charges for the account that the code finally comes from; returns undefined when out of gas. */
function accessCode(frame: Frame, machine: Machine, target: AccountState): Code | undefined {
  const code = codeOf(machine, target)
  const delegate = delegateOf(machine, code)
  if (delegate === undefined) return code
  const account = accessAccount(frame, machine, delegate)
  return account && codeOf(machine, account)
}

type CallKind = 'call' | 'callcode' | 'delegatecall' | 'staticcall'

/** Operands of a call; its memory is already paid. */
type CallWords = {
  readonly wanted: Word
  readonly address: Word
  readonly value: Word
  readonly inputFrom: number
  readonly inputSize: number
  readonly outputTo: number
  readonly outputSize: number
}

/** Takes the operands of a call from the stack. Returns undefined when the frame has halted. */
function takeCallWords(frame: Frame, kind: CallKind): CallWords | undefined {
  const wanted = pop(frame)
  const address = addressWord(pop(frame))
  const value = kind === 'call' || kind === 'callcode' ? pop(frame) : 0n
  const inputOffset = pop(frame)
  const inputSize = sizeOf(pop(frame))
  const outputOffset = pop(frame)
  const outputSize = sizeOf(pop(frame))
  if (kind === 'call' && !ensure(frame, value === 0n || !frame.isStatic, 'write protection')) return undefined
  const inputFrom = touchMemory(frame, inputOffset, inputSize)
  if (inputFrom === undefined) return undefined
  const outputTo = touchMemory(frame, outputOffset, outputSize)
  if (outputTo === undefined) return undefined
  return { wanted, address, value, inputFrom, inputSize, outputTo, outputSize }
}

/** Charges for the called account and returns it. */
function payForCall(frame: Frame, machine: Machine, kind: CallKind, { address, value }: CallWords): AccountState | undefined {
  if (value !== 0n && !charge(frame, gas.callValue)) return undefined
  const target = accessAccount(frame, machine, address)
  if (!target) return undefined
  const isNew = machine.old?.clearsEmpty === false ? !target.exists : value !== 0n && isEmpty(target)
  if (kind === 'call' && isNew && !charge(frame, gas.newAccount)) return undefined
  return target
}

/** Returns storage account, caller and value of the new frame. DELEGATECALL keeps the caller and value; CALLCODE runs on the caller's storage. */
function rolesOf(frame: Frame, kind: CallKind, target: AccountState, value: Word): Pick<Call, 'self' | 'caller' | 'value' | 'payer'> {
  if (kind === 'delegatecall') return { self: frame.self, caller: frame.caller, value: frame.value, payer: undefined }
  const self = kind === 'callcode' ? frame.self : target
  return { self, caller: frame.self.address, value, payer: frame.self }
}

function callOperation(kind: CallKind): Operation {
  return (frame, machine) => {
    const words = takeCallWords(frame, kind)
    const target = words && payForCall(frame, machine, kind, words)
    const code = target && accessCode(frame, machine, target)
    if (!code) return
    const { wanted, address, value, inputFrom, inputSize, outputTo, outputSize } = words
    const given = machine.old?.keepsA64th === false ? takeAllGas(frame, wanted) : takeGas(frame, wanted)
    if (!given) return
    const next = beginCall(machine, {
      ...rolesOf(frame, kind, target, value),
      codeAddress: address,
      isBorrowed: kind === 'callcode' || kind === 'delegatecall',
      code,
      input: memorySlice(frame, inputFrom, inputSize),
      isStatic: kind === 'staticcall' || frame.isStatic,
      gas: value === 0n ? given.gas : given.gas + gas.callStipend,
      reserve: given.reserve,
      depth: frame.depth + 1,
      outputTo,
      outputSize,
    })
    enter(frame, machine, next, (ended) => deliverCall(frame, ended, outputTo, outputSize))
  }
}

/** Continues in the new frame, or delivers the end of a call without a frame. */
export function enter(frame: Frame, machine: Machine, next: Frame | Ended, deliver: (ended: Ended) => void): void {
  if ('stack' in next) {
    frame.state = 'waiting'
    machine.frames.push(next)
  } else deliver(next)
}

export const call: Operation = callOperation('call')
export const callcode: Operation = callOperation('callcode')
export const delegatecall: Operation = callOperation('delegatecall')
export const staticcall: Operation = callOperation('staticcall')
