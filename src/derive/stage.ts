import type { L2Ref } from '#types/blockRef'
import type { Step, Want } from './ports.ts'

/** Stage of the pipeline. `next` pulls from the stage below. `wait`: the L1 block being read is read to its end. */
export type Stage<T> = { next(): Step<T> }

/** Stage whose items depend on the safe head. */
export type SafeHeadStage<T> = { next(safe: L2Ref): Step<T> }

export type Need = { readonly kind: 'need'; readonly want: Want }

export const wait = { kind: 'wait' } as const
export const item = <T>(value: T): { readonly kind: 'item'; readonly item: T } => ({ kind: 'item', item: value })
export const reset = (reason: string): { readonly kind: 'reset'; readonly reason: string } => ({ kind: 'reset', reason })
