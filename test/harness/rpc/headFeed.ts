import type { HeadBlock, HeadFeed } from '#rpc/ports'

export type ScriptedFeed = HeadFeed & {
  /** Notifies the listeners as a published head does. */
  tell(...blocks: HeadBlock[]): void
  readonly listeners: number
}

/** Feed of heads that a test drives. */
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
