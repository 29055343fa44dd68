import { emptyBytes } from '#lib/bytes'
import type { Args } from '../kit/args.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asWord } from '../kit/results.ts'
import { fitsBits, isBelow, isEqual, isZero, newWord, type Word } from '../kit/word.ts'
import { credit, debit, lowerSupply, raiseSupply } from './balances.ts'
import {
  accountNotBlocked,
  accountNotSeizable,
  emptyBatch,
  invalidReceiver,
  invalidSender,
  invalidSupplyCap,
  lengthMismatch,
} from './errors.ts'
import { burnedBlocked, memoAdded, seized, supplyCapUpdated, transferred } from './events.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { pausable, requireNotPaused } from './pause.ts'
import {
  authorizes,
  mintReceiverScope,
  policyIdOf,
  requireAuthorized,
  seizeExemptScope,
  seizeReceiverScope,
  senderScope,
} from './policies.ts'
import { burnBlockedRole, burnRole, defaultAdminRole, mintRole, requireRole, requireRoleAlways, seizeRole } from './roles.ts'
import { requireReceiver } from './transfers.ts'

const nobody = newWord()

/** Mints, after the checks of pause and role. The policy of mint receivers binds the factory too. */
function mintTo(frame: TokenFrame, to: Word, amount: Word): void {
  requireReceiver(frame, to)
  requireAuthorized(frame, mintReceiverScope, policyIdOf(frame, mintReceiverScope), to)
  raiseSupply(frame, amount)
  credit(frame, to, amount)
  transferred.emitWord(frame.host, frame.account, nobody, to, amount)
}

function mint(frame: TokenFrame, args: Args): Uint8Array {
  requireNotPaused(frame, pausable.mint)
  requireRole(frame, mintRole)
  mintTo(frame, args.word(0), args.word(1))
  return emptyBytes
}

function batchMint(frame: TokenFrame, args: Args): Uint8Array {
  requireNotPaused(frame, pausable.mint)
  requireRole(frame, mintRole)
  const count = args.count(0)
  if (count !== args.count(1)) throw lengthMismatch(count, args.count(1))
  if (count === 0) throw emptyBatch()
  for (let i = 0; i < count; i++) {
    requireNotPaused(frame, pausable.mint)
    mintTo(frame, args.element(0, i), args.element(1, i))
  }
  return emptyBytes
}

/** Burns tokens of a holder, after all checks except the balance. */
function burnFrom(frame: TokenFrame, from: Word, amount: Word): void {
  debit(frame, from, amount)
  lowerSupply(frame, amount)
  transferred.emitWord(frame.host, frame.account, from, nobody, amount)
}

/** The factory needs the role to burn, too. */
function burn(frame: TokenFrame, args: Args): Uint8Array {
  requireNotPaused(frame, pausable.burn)
  requireRoleAlways(frame, burnRole)
  burnFrom(frame, frame.caller, args.word(0))
  return emptyBytes
}

function burnBlocked(frame: TokenFrame, args: Args): Uint8Array {
  const [from, amount] = [args.word(0), args.word(1)]
  requireNotPaused(frame, pausable.burn)
  requireRole(frame, burnBlockedRole)
  if (authorizes(frame, policyIdOf(frame, senderScope), from)) throw accountNotBlocked(from)
  burnFrom(frame, from, amount)
  burnedBlocked.emit(frame.host, frame.account, [frame.caller, from], amount)
  return emptyBytes
}

/** Moves tokens of a holder whom the exempt policy does not protect. The factory has no privilege here. */
function seizeWithMemo(frame: TokenFrame, args: Args): Uint8Array {
  const [from, to, amount, memo] = [args.word(0), args.word(1), args.word(2), args.word(3)]
  requireNotPaused(frame, pausable.seize)
  requireRoleAlways(frame, seizeRole)
  requireReceiver(frame, to)
  if (isZero(from)) throw invalidSender(from)
  if (isEqual(from, to)) throw invalidReceiver(to)
  if (authorizes(frame, policyIdOf(frame, seizeExemptScope), from)) throw accountNotSeizable(from)
  requireAuthorized(frame, seizeReceiverScope, policyIdOf(frame, seizeReceiverScope), to)
  debit(frame, from, amount)
  credit(frame, to, amount)
  transferred.emitWord(frame.host, frame.account, from, to, amount)
  memoAdded.emit(frame.host, frame.account, [frame.caller, memo])
  seized.emit(frame.host, frame.account, [frame.caller, from, to], amount)
  return emptyBytes
}

function updateSupplyCap(frame: TokenFrame, args: Args): Uint8Array {
  requireRole(frame, defaultAdminRole)
  const next = args.word(0)
  const supply = frame.storage.read(tokenFields.totalSupply)
  if (isBelow(next, supply) || !fitsBits(next, 128)) throw invalidSupplyCap(supply, next)
  const previous = frame.storage.read(tokenFields.supplyCap)
  frame.storage.write(tokenFields.supplyCap, next)
  supplyCapUpdated.emit(frame.host, frame.account, [frame.caller], previous, next)
  return emptyBytes
}

/** Runs a function, then emits its memo. @param index of the memo among the arguments */
function withMemo(run: (frame: TokenFrame, args: Args) => Uint8Array, index: number) {
  return (frame: TokenFrame, args: Args): Uint8Array => {
    const output = run(frame, args)
    memoAdded.emit(frame.host, frame.account, [frame.caller, args.word(index)])
    return output
  }
}

export const supplyFunctions = [
  nativeFunction('totalSupply()', ({ storage }: TokenFrame) => asWord(storage.read(tokenFields.totalSupply))),
  nativeFunction('supplyCap()', ({ storage }: TokenFrame) => asWord(storage.read(tokenFields.supplyCap))),
  nativeFunction('updateSupplyCap(uint256)', updateSupplyCap),
  nativeFunction('mint(address,uint256)', mint),
  nativeFunction('mintWithMemo(address,uint256,bytes32)', withMemo(mint, 2)),
  nativeFunction('burn(uint256)', burn),
  nativeFunction('burnWithMemo(uint256,bytes32)', withMemo(burn, 1)),
  nativeFunction('burnBlocked(address,uint256)', burnBlocked),
]

export const assetSupplyFunctions = [nativeFunction('batchMint(address[],uint256[])', batchMint)]
export const seizeFunctions = [nativeFunction('seizeWithMemo(address,address,uint256,bytes32)', seizeWithMemo)]
