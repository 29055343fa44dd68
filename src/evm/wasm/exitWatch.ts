import type { Address, Hash } from '#types/ids'

/** Observer of the exits of the traced build; see TraceHost. */
export type ExitWatch = {
  /** Called before a message begins. */
  begin(): void
  /** Called at each exit. @returns whether the exit needs no further service */
  take(exit: number): boolean
  /** Called after the message. */
  end(): void
  /** Called when a native contract reads an account, or reads or writes one of its slots. */
  nativeAccess(address: Address, slot: Hash | undefined): void
}
