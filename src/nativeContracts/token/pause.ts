import { emptyBytes } from '#lib/bytes'
import type { Args } from '../kit/args.ts'
import type { ContractEvent } from '../kit/events.ts'
import { type NativeFunction, nativeFunction } from '../kit/functions.ts'
import { asFlag, asList } from '../kit/results.ts'
import { newWord, type Word } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'
import { contractPaused, emptyFeatureSet } from './errors.ts'
import { pausedEvent, unpausedEvent } from './events.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { pauseRole, requireRole, unpauseRole } from './roles.ts'

/** Features that can be paused, by their number in calls and their bit in storage. */
export const pausable = { transfer: 0, mint: 1, burn: 2, seize: 3 } as const
type Pausable = (typeof pausable)[keyof typeof pausable]

const paused = newWord()

/** @throws NativeRevert ContractPaused */
export function requireNotPaused({ storage }: TokenFrame, feature: Pausable): void {
  storage.read(tokenFields.paused, paused)
  if ((((paused[0] as number) >>> feature) & 1) !== 0) throw contractPaused(feature)
}

function change(
  frame: TokenFrame,
  args: Args,
  role: Word,
  event: ContractEvent,
  apply: (bits: number, mask: number) => number,
): Uint8Array {
  requireRole(frame, role)
  const features = args.elements(0)
  if (features.length === 0) throw emptyFeatureSet()
  let mask = 0
  for (const feature of features) mask |= 1 << (feature[0] as number)
  const word = frame.storage.read(tokenFields.paused)
  word[0] = apply(word[0] as number, mask)
  frame.storage.write(tokenFields.paused, word)
  event.emit(frame.host, frame.account, [frame.caller], features)
  return emptyBytes
}

function pausedFeatures({ storage }: TokenFrame): Uint8Array {
  const bits = storage.read(tokenFields.paused)[0] as number
  return asList(Object.values(pausable).filter((feature) => ((bits >>> feature) & 1) !== 0))
}

export function pauseFunctions({ hasSeize }: NativeRules): readonly NativeFunction<TokenFrame>[] {
  const feature = hasSeize ? 'enum<4>' : 'enum<3>'
  return [
    nativeFunction(`pause(${feature}[])`, (frame: TokenFrame, args) =>
      change(frame, args, pauseRole, pausedEvent, (bits, mask) => bits | mask),
    ),
    nativeFunction(`unpause(${feature}[])`, (frame: TokenFrame, args) =>
      change(frame, args, unpauseRole, unpausedEvent, (bits, mask) => bits & ~mask),
    ),
    nativeFunction(`isPaused(${feature})`, (frame: TokenFrame, args) =>
      asFlag((((frame.storage.read(tokenFields.paused)[0] as number) >>> args.number(0)) & 1) !== 0),
    ),
    nativeFunction('pausedFeatures()', pausedFeatures),
  ]
}
