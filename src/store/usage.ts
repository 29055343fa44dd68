/** Activity of a store; its snapshots share this object and end with the store. */
export type Usage = { isWriting: boolean; isClosed: boolean }

/** Throws Error when the store is closed, or during a write, when only its transaction may be used. */
export function requireUsable({ isWriting, isClosed }: Usage): void {
  if (isClosed) throw new Error('kv: closed')
  if (isWriting) throw new Error('kv: during a write only its transaction may be used')
}
