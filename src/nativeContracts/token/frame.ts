import type { AccountHandle, NativeHost } from '../host.ts'
import { Storage } from '../kit/storage.ts'
import type { Word } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'

export type TokenVariant = 'asset' | 'stablecoin'

/** A call of a token: of a message, of `announce`, or of a creation. */
export class TokenFrame {
  readonly host: NativeHost
  readonly rules: NativeRules
  readonly variant: TokenVariant
  /** Address of the token. */
  readonly token: Word
  readonly account: AccountHandle
  readonly storage: Storage
  readonly caller: Word
  /** The factory's calls to a token that it creates skip most checks of roles and policies. */
  readonly isPrivileged: boolean

  constructor(
    host: NativeHost,
    rules: NativeRules,
    variant: TokenVariant,
    token: Word,
    account: AccountHandle,
    caller: Word,
    isPrivileged: boolean,
  ) {
    this.host = host
    this.rules = rules
    this.variant = variant
    this.token = token
    this.account = account
    this.storage = new Storage(host, account, rules.clearsStaleText)
    this.caller = caller
    this.isPrivileged = isPrivileged
  }
}
