/** What a store is doing: shared with its snapshots, which end with it. */
export type Usage = { isWriting: boolean; isClosed: boolean }

/** Error when the store is closed, or a write runs and only its transaction may be used. */
export function requireUsable({ isWriting, isClosed }: Usage): void {
  if (isClosed) throw new Error('kv: closed')
  if (isWriting) throw new Error('kv: inside a write only its transaction is used')
}
