import { toHex, toQuantity } from '#lib/hex'
import type { Account } from '#types/account'
import type { Address } from '#types/ids'
import { word } from '../codecs/values.ts'
import { refTo } from '../reference/schemas.ts'
import type { ResultCodec } from '../registry.ts'

const [quantity, hash, bytes] = [refTo('Quantity'), refTo('Hash'), refTo('Bytes')]

export const accountResult: ResultCodec<Account> = {
  doc: 'nonce, balance, storageRoot, codeHash',
  schema: { type: 'object', properties: { nonce: quantity, balance: quantity, storageRoot: hash, codeHash: hash } },
  encode: ({ nonce, balance, storageRoot, codeHash }) => ({
    nonce: toQuantity(nonce),
    balance: toQuantity(balance),
    storageRoot,
    codeHash,
  }),
}

export type AccountInfo = { readonly account: Account | undefined; readonly code: Uint8Array }

export const accountInfoResult: ResultCodec<AccountInfo> = {
  doc: 'balance, nonce, code',
  schema: { type: 'object', properties: { balance: quantity, nonce: quantity, code: bytes } },
  encode: ({ account, code }) => ({
    balance: toQuantity(account?.balance ?? 0n),
    nonce: toQuantity(account?.nonce ?? 0n),
    code: toHex(code),
  }),
}

export type StorageValues = readonly { readonly account: Address; readonly values: readonly bigint[] }[]

export const storageValuesResult: ResultCodec<StorageValues> = {
  doc: '{address: [32 bytes in hex]}, in the requested order',
  schema: { type: 'object', additionalProperties: { type: 'array', items: hash } },
  encode: (accounts) => Object.fromEntries(accounts.map(({ account, values }) => [account, values.map(word.encode)])),
}
