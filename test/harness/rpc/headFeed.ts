import type { HeadBlock, HeadFeed } from '#rpc/ports'

export type ScriptedFeed = HeadFeed & {
  /** As after a published head. */
  tell(...blocks: HeadBlock[]): void
  readonly listeners: number
}

/** A feed of heads that a test tells. */
export function scriptedFeed(): ScriptedFeed {
  const listeners = new Set<(blocks: readonly HeadBlock[]) => void>()
  return {
    subscribe(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    tell(...blocks) {
      for (const listener of listeners) listener(blocks)
    },
    get listeners() {
      return listeners.size
    },
  }
}
