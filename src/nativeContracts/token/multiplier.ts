import { emptyBytes } from '#lib/bytes'
import type { Args } from '../kit/args.ts'
import { overflow } from '../kit/ends.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asNumber } from '../kit/results.ts'
import { bigintOf, newWord, u64At, type Word, wordOf } from '../kit/word.ts'
import { balanceOf } from './balances.ts'
import {
  effectiveAtInPast,
  effectiveAtTooFar,
  invalidMultiplier,
  uiMultiplierUpdateDoesNotExist,
  uiMultiplierUpdateExists,
} from './errors.ts'
import { multiplierUpdated, uiMultiplierUpdateCancelled, uiMultiplierUpdated } from './events.ts'
import { assetFields, tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { operatorRole, requireRole } from './roles.ts'

/** Unit of multipliers. */
const wad = 10n ** 18n
const maxMultiplier = 2n ** 128n - 1n
const maxTime = 2n ** 64n - 1n
const maxWord = 2n ** 256n - 1n

function storedMultiplier({ storage }: TokenFrame): bigint {
  return bigintOf(storage.read(assetFields.multiplier)) || wad
}

const scheduledWord = newWord()

/** Reads the scheduled multiplier. */
function scheduledMultiplier({ storage }: TokenFrame): bigint {
  storage.read(assetFields.scheduledMultiplier, scheduledWord)
  return u64At(scheduledWord, 0) | (u64At(scheduledWord, 2) << 64n)
}

/** Reads the time of the scheduled multiplier, in seconds; zero: none. */
const scheduledTime = ({ storage }: TokenFrame): bigint => storage.readU64(assetFields.scheduledMultiplier, 4)

/** Returns the multiplier now: the scheduled one once its time has come. */
function multiplierNow(frame: TokenFrame): bigint {
  if (!frame.rules.hasScheduledMultiplier) return storedMultiplier(frame)
  const time = scheduledTime(frame)
  return time !== 0n && frame.host.timestamp >= time ? scheduledMultiplier(frame) : storedMultiplier(frame)
}

/** Replaces the scheduled multiplier and its time: the rest of the slot is kept, so the slot is read first. */
function schedule({ storage }: TokenFrame, multiplier: bigint, time: bigint): void {
  const word = storage.read(assetFields.scheduledMultiplier)
  const rest = bigintOf(word) >> 192n
  storage.write(assetFields.scheduledMultiplier, wordOf((rest << 192n) | (time << 128n) | multiplier))
}

function product(a: bigint, b: bigint): bigint {
  const value = a * b
  if (value > maxWord) throw overflow()
  return value
}

const scaled = (frame: TokenFrame, raw: Word): Uint8Array => {
  const multiplier = multiplierNow(frame)
  return asNumber(product(bigintOf(raw), multiplier) / wad)
}

const unscaled = (frame: TokenFrame, amount: Word): Uint8Array => {
  const multiplier = multiplierNow(frame)
  return asNumber(product(bigintOf(amount), wad) / multiplier)
}

function updateMultiplier(frame: TokenFrame, args: Args): Uint8Array {
  requireRole(frame, operatorRole)
  const { rules, storage, host, account } = frame
  const next = bigintOf(args.word(0))
  if (next === 0n || (rules.hasScheduledMultiplier && next > maxMultiplier)) throw invalidMultiplier()
  if (!rules.hasScheduledMultiplier) {
    storage.write(assetFields.multiplier, wordOf(next))
    multiplierUpdated.emit(host, account, [], next)
    return emptyBytes
  }
  const [pending, time] = [scheduledMultiplier(frame), scheduledTime(frame)]
  const previous = multiplierNow(frame)
  storage.write(assetFields.multiplier, wordOf(next))
  if (time !== 0n) schedule(frame, 0n, 0n)
  if (time > host.timestamp) uiMultiplierUpdateCancelled.emit(host, account, [], pending, time)
  multiplierUpdated.emit(host, account, [], next)
  uiMultiplierUpdated.emit(host, account, [], previous, next, host.timestamp)
  return emptyBytes
}

function updateUiMultiplier(frame: TokenFrame, args: Args): Uint8Array {
  requireRole(frame, operatorRole)
  const { storage, host, account } = frame
  const [next, time] = [bigintOf(args.word(0)), bigintOf(args.word(1))]
  if (next === 0n || next > maxMultiplier) throw invalidMultiplier()
  if (time <= host.timestamp) throw effectiveAtInPast(time)
  if (time > maxTime) throw effectiveAtTooFar(time)
  const pendingTime = scheduledTime(frame)
  if (pendingTime > host.timestamp) throw uiMultiplierUpdateExists(pendingTime)
  if (pendingTime !== 0n) storage.write(assetFields.multiplier, wordOf(scheduledMultiplier(frame)))
  const previous = storedMultiplier(frame)
  schedule(frame, next, time)
  uiMultiplierUpdated.emit(host, account, [], previous, next, time)
  return emptyBytes
}

function cancelUiMultiplierUpdate(frame: TokenFrame): Uint8Array {
  requireRole(frame, operatorRole)
  const { host, account } = frame
  const [pending, time] = [scheduledMultiplier(frame), scheduledTime(frame)]
  if (time <= host.timestamp) throw uiMultiplierUpdateDoesNotExist()
  schedule(frame, 0n, 0n)
  uiMultiplierUpdateCancelled.emit(host, account, [], pending, time)
  return emptyBytes
}

/** Returns the scheduled multiplier, or else the one that applies. */
function newUiMultiplier(frame: TokenFrame): Uint8Array {
  return asNumber(scheduledTime(frame) > frame.host.timestamp ? scheduledMultiplier(frame) : multiplierNow(frame))
}

const totalSupply = ({ storage }: TokenFrame): Word => storage.read(tokenFields.totalSupply)

export const multiplierFunctions = [
  nativeFunction('WAD_PRECISION()', (_: TokenFrame) => asNumber(wad)),
  nativeFunction('multiplier()', (frame: TokenFrame) => asNumber(multiplierNow(frame))),
  nativeFunction('toScaledBalance(uint256)', (frame: TokenFrame, args) => scaled(frame, args.word(0))),
  nativeFunction('toRawBalance(uint256)', (frame: TokenFrame, args) => unscaled(frame, args.word(0))),
  nativeFunction('scaledBalanceOf(address)', (frame: TokenFrame, args) => scaled(frame, balanceOf(frame, args.word(0)))),
  nativeFunction('updateMultiplier(uint256)', updateMultiplier),
]

export const scheduledMultiplierFunctions = [
  nativeFunction('MAX_UI_MULTIPLIER()', (_: TokenFrame) => asNumber(maxMultiplier)),
  nativeFunction('uiMultiplier()', (frame: TokenFrame) => asNumber(multiplierNow(frame))),
  nativeFunction('toUIAmount(uint256)', (frame: TokenFrame, args) => scaled(frame, args.word(0))),
  nativeFunction('fromUIAmount(uint256)', (frame: TokenFrame, args) => unscaled(frame, args.word(0))),
  nativeFunction('balanceOfUI(address)', (frame: TokenFrame, args) => scaled(frame, balanceOf(frame, args.word(0)))),
  nativeFunction('totalSupplyUI()', (frame: TokenFrame) => scaled(frame, totalSupply(frame))),
  nativeFunction('newUIMultiplier()', newUiMultiplier),
  nativeFunction('effectiveAt()', (frame: TokenFrame) => asNumber(scheduledTime(frame))),
  nativeFunction('updateUIMultiplier(uint256,uint256)', updateUiMultiplier),
  nativeFunction('cancelUIMultiplierUpdate()', cancelUiMultiplierUpdate),
]
