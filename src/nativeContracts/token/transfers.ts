import type { Args } from '../kit/args.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asFlag, asWord } from '../kit/results.ts'
import { isBelow, isEqual, isZero, newWord, subtract, type Word } from '../kit/word.ts'
import { balanceOf, credit, debit } from './balances.ts'
import { insufficientAllowance, invalidApprover, invalidReceiver, invalidSender, invalidSpender } from './errors.ts'
import { approved, memoAdded, transferred } from './events.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { pausable, requireNotPaused } from './pause.ts'
import { requireExecutorPolicy, requireTransferPolicies } from './policies.ts'

const slot = newWord()
const allowance = newWord()
const sender = newWord()
const receiver = newWord()
const amount = newWord()

/**
 * Requires a receiver other than zero and, under V3, the token itself. Evidence for V3: base/base pull request 5150, final for both variants; an earlier
 * build refused every token address. That the rule applies to `initCalls` too is inferred: it is no check of rights, which are all that they skip.
 * @throws NativeRevert InvalidReceiver
 */
export function requireReceiver(frame: TokenFrame, to: Word): void {
  if (isZero(to) || (frame.rules.refusesOwnAddress && isEqual(to, frame.token))) throw invalidReceiver(to)
}

function requireParties(frame: TokenFrame, from: Word, to: Word): void {
  requireReceiver(frame, to)
  if (isZero(from)) throw invalidSender(from)
}

/** Moves tokens between holders. */
function move(frame: TokenFrame, from: Word, to: Word, value: Word): void {
  debit(frame, from, value)
  credit(frame, to, value)
  transferred.emitWord(frame.host, frame.account, from, to, value)
}

function addMemo(frame: TokenFrame, memo: Word): void {
  memoAdded.emit(frame.host, frame.account, [frame.caller, memo])
}

function transfer(frame: TokenFrame, args: Args): Uint8Array {
  const { caller } = frame
  args.word(0, receiver)
  args.word(1, amount)
  requireNotPaused(frame, pausable.transfer)
  requireParties(frame, caller, receiver)
  if (!frame.isPrivileged) requireTransferPolicies(frame, caller, caller, receiver)
  move(frame, caller, receiver, amount)
  return asFlag(true)
}

function isInfinite(value: Word): boolean {
  for (let i = 0; i < 8; i++) if (value[i] !== 0xffffffff) return false
  return true
}

/**
 * Spends an allowance. V3 reads it before the policies: so does the newest asset file of base/base (ceabd088); no released tree was read.
 * @param memo emitted before the allowance is written
 */
function transferFrom(frame: TokenFrame, args: Args, memo?: Word): Uint8Array {
  const { caller, storage, rules } = frame
  args.word(0, sender)
  args.word(1, receiver)
  args.word(2, amount)
  requireNotPaused(frame, pausable.transfer)
  requireParties(frame, sender, receiver)
  tokenFields.allowances.slot(slot, sender, caller)
  storage.read(slot, allowance)
  if (isBelow(allowance, amount)) throw insufficientAllowance(caller, allowance, amount)
  if (!frame.isPrivileged) {
    if (!rules.readsTransferPoliciesOnce && !isEqual(caller, sender)) requireExecutorPolicy(frame, caller)
    requireTransferPolicies(frame, caller, sender, receiver)
  }
  move(frame, sender, receiver, amount)
  if (memo) addMemo(frame, memo)
  if (isInfinite(allowance)) return asFlag(true)
  subtract(allowance, allowance, amount)
  storage.write(slot, allowance)
  return asFlag(true)
}

/** Sets an allowance. @throws NativeRevert InvalidApprover, InvalidSpender */
export function setAllowance(frame: TokenFrame, owner: Word, spender: Word, value: Word): void {
  if (isZero(owner)) throw invalidApprover(owner)
  if (isZero(spender)) throw invalidSpender(spender)
  frame.storage.write(tokenFields.allowances.slot(slot, owner, spender), value)
  approved.emitWord(frame.host, frame.account, owner, spender, value)
}

function approve(frame: TokenFrame, args: Args): Uint8Array {
  setAllowance(frame, frame.caller, args.word(0, receiver), args.word(1, amount))
  return asFlag(true)
}

export const transferFunctions = [
  nativeFunction('transfer(address,uint256)', transfer),
  nativeFunction('transferFrom(address,address,uint256)', (frame: TokenFrame, args) => transferFrom(frame, args)),
  nativeFunction('approve(address,uint256)', approve),
  nativeFunction('transferWithMemo(address,uint256,bytes32)', (frame: TokenFrame, args) => {
    const output = transfer(frame, args)
    addMemo(frame, args.word(2))
    return output
  }),
  nativeFunction('transferFromWithMemo(address,address,uint256,bytes32)', (frame: TokenFrame, args) =>
    transferFrom(frame, args, args.word(3)),
  ),
  nativeFunction('balanceOf(address)', (frame: TokenFrame, args) => asWord(balanceOf(frame, args.word(0)))),
  nativeFunction('allowance(address,address)', ({ storage }: TokenFrame, args) =>
    asWord(storage.read(tokenFields.allowances.slot(slot, args.word(0), args.word(1)))),
  ),
]
