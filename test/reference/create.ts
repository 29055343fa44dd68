import { emptyBytes } from '#lib/bytes'
import { keccak256, keccak256Of } from '#lib/keccak'
import { encodeRlp, rlpScalar } from '#lib/rlp'
import { maxNonce } from '#types/account'
import { emptyCodeHash } from '#types/ids'
import { enter, takeGas } from './calls.ts'
import { prepareCode } from './code.ts'
import { charge, ensure, type Frame, pop, push, refund, totalGas } from './frame.ts'
import { gas, maxCodeSize, maxDepth, maxInitcodeSize } from './gas.ts'
import type { AccountState } from './journal.ts'
import { createFrame, type Ended, type Machine, type Operation } from './machine.ts'
import { memorySlice, touchMemory } from './memory.ts'
import { addressBytes, sizeOf, type Word, wordBytes, wordFromBytes } from './words.ts'

export type Creation = {
  readonly creator: AccountState
  readonly value: Word
  readonly initcode: Uint8Array
  /** Salt of CREATE2. */
  readonly salt: Word | undefined
  readonly gas: number
  readonly reserve: bigint
  readonly depth: number
}

/** Returns whether the address is already in use, so that no contract may be created there (EIP-684, EIP-7610). */
function isTaken({ rules, journal }: Machine, account: AccountState): boolean {
  if (account.nonce !== 0n || account.codeHash !== emptyCodeHash) return true
  return rules.creationOverStorage !== 'allow' && journal.hasOldStorage(account)
}

const createAddress = (creator: Word, nonce: bigint): Word =>
  wordFromBytes(keccak256(encodeRlp([addressBytes(creator), rlpScalar(nonce)])).subarray(12))

/** Returns the address of CREATE2 (EIP-1014). */
const create2Address = (creator: Word, salt: Word, initcode: Uint8Array): Word =>
  wordFromBytes(keccak256Of(Uint8Array.of(0xff), addressBytes(creator), wordBytes(salt), keccak256(initcode)).subarray(12))

/**
 * Starts a contract creation. Returns a frame that runs the initcode, or the end of a refused creation. The creator's nonce is incremented as soon as
 * the
 * creation is tried, and stays incremented; the new address is warm from then on.
 */
export function beginCreate(machine: Machine, creation: Creation): Frame | Ended {
  const { journal } = machine
  const { creator, value, initcode, salt, depth } = creation
  const refused = (state: Ended['state']): Ended => ({ state, gas: creation.gas, reserve: creation.reserve, output: emptyBytes })
  if (depth > maxDepth) return refused('call depth')
  if (creator.balance < value) return refused('insufficient balance')
  const { nonce } = creator
  if (nonce === maxNonce) return refused('nonce overflow')
  journal.setNonce(creator, nonce + 1n)
  const address = salt === undefined ? createAddress(creator.address, nonce) : create2Address(creator.address, salt, initcode)
  const created = journal.account(address)
  journal.warm(created)
  if (isTaken(machine, created)) return { state: 'address collision', gas: 0, reserve: 0n, output: emptyBytes }
  const checkpoint = journal.checkpoint()
  journal.create(created)
  journal.transfer(creator, created, value)
  return createFrame(machine, {
    kind: 'create',
    code: prepareCode(initcode),
    self: created,
    caller: creator.address,
    value,
    input: emptyBytes,
    isStatic: false,
    gas: creation.gas,
    reserve: creation.reserve,
    depth,
    checkpoint,
    outputTo: 0,
    outputSize: 0,
  })
}

/** Checks, charges for and stores the code that initcode returned (EIP-170, EIP-3541). Halts the frame when the code is invalid. */
export function depositCode(machine: Machine, frame: Frame): void {
  const code = frame.output
  frame.output = emptyBytes
  const { old } = machine
  if (!ensure(frame, code.length <= maxCodeSize || old?.clearsEmpty === false, 'code size')) return
  if (!ensure(frame, code[0] !== 0xef || old?.refusesEf === false, 'invalid code')) return
  // in Frontier, a contract that cannot pay for its code is created without code
  if (old?.paysForCode === false && totalGas(frame) < BigInt(code.length * gas.codeByte)) return
  if (charge(frame, code.length * gas.codeByte)) machine.journal.setCode(frame.self, code)
}

/** Delivers the end of a creation to the creating frame. Return data is the revert data, or empty. */
export function deliverCreate(frame: Frame, ended: Ended): void {
  refund(frame, ended)
  frame.returnData = ended.state === 'revert' ? ended.output : emptyBytes
  push(frame, ended.created ?? 0n)
}

function createOperation(kind: 'create' | 'create2'): Operation {
  const isSalted = kind === 'create2'
  return (frame, machine) => {
    if (!ensure(frame, !frame.isStatic, 'write protection')) return
    const value = pop(frame)
    const offset = pop(frame)
    const size = sizeOf(pop(frame))
    const salt = isSalted ? pop(frame) : undefined
    if (!ensure(frame, !machine.isShanghai || size <= maxInitcodeSize, 'initcode size')) return
    const wordCost = (machine.isShanghai ? gas.initcodeWord : 0) + (isSalted ? gas.keccakWord : 0)
    if (!charge(frame, Math.ceil(size / 32) * wordCost || 0)) return
    const from = touchMemory(frame, offset, size)
    if (from === undefined) return
    const given = takeGas(frame, 2n ** 64n, machine.old?.keepsA64th === false)
    const initcode = memorySlice(frame, from, size)
    frame.returnData = emptyBytes
    const next = beginCreate(machine, { creator: frame.self, value, initcode, salt, ...given, depth: frame.depth + 1 })
    enter(frame, machine, next, (ended) => deliverCreate(frame, ended))
  }
}

export const create: Operation = createOperation('create')
export const create2: Operation = createOperation('create2')
