import type { HaltReason } from '../ports.ts'
import type { FrameEnd } from '../traceEvents.ts'
import { opcodeName } from './opcodeNames.ts'

export const revertedText = 'execution reverted'

/** Error texts of other clients for a halted frame. */
const haltTexts: Readonly<Record<HaltReason, string>> = {
  'out of gas': 'out of gas',
  'stack underflow': 'stack underflow',
  'stack overflow': 'stack limit reached 1024 (1023)',
  'invalid jump': 'invalid jump destination',
  'invalid opcode': 'invalid opcode',
  'write protection': 'write protection',
  'call depth': 'max call depth exceeded',
  'insufficient balance': 'insufficient balance for transfer',
  'address collision': 'contract address collision',
  'invalid code': 'invalid code: must not begin with 0xef',
  'code size': 'max code size exceeded',
  'initcode size': 'max initcode size exceeded',
  'return data out of bounds': 'return data out of bounds',
  'nonce overflow': 'nonce uint64 overflow',
  'precompile failure': 'precompiled failed',
}

/** OpenEthereum's error texts, for the halts that it names. @see OpenEthereum documentation, "trace module" */
const parityTexts: Readonly<Partial<Record<'revert' | HaltReason, string>>> = {
  revert: 'Reverted',
  'out of gas': 'Out of gas',
  'code size': 'Out of gas',
  'stack underflow': 'Stack underflow',
  'stack overflow': 'Out of stack',
  'invalid jump': 'Bad jump destination',
  'invalid opcode': 'Bad instruction',
  'return data out of bounds': 'Out of bounds',
  'precompile failure': 'Built-in failed',
}

type Ended = Pick<FrameEnd, 'end' | 'opcode'> | 'not run'

/** Returns go-ethereum's text for a frame's failure; undefined when it succeeded. Only a deposit can fail without running. */
export function errorOf(ended: Ended): string | undefined {
  if (ended === 'not run') return 'failed deposit transaction'
  const { end, opcode } = ended
  if (end === 'success') return undefined
  if (end === 'revert') return revertedText
  return end === 'invalid opcode' && opcode !== undefined ? `${haltTexts[end]}: ${opcodeName(opcode)}` : haltTexts[end]
}

/** Returns OpenEthereum's text for a failure, or else the text of `errorOf`. */
export function parityErrorOf(ended: Ended): string | undefined {
  const text = ended === 'not run' || ended.end === 'success' ? undefined : parityTexts[ended.end]
  return text ?? errorOf(ended)
}
