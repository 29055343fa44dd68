import type { BlockId } from '#types/blockRef'
import type { Engine } from './port.ts'

/** Returns whether a block is canonical: the block at its number has its hash. @throws Faults of the engine */
export async function isCanonical(engine: Pick<Engine, 'payload'>, { number, hash }: BlockId): Promise<boolean> {
  return (await engine.payload(number))?.blockHash === hash
}
