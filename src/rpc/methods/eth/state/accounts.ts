import { toHex, toQuantity } from '#lib/hex'
import type { Account } from '#types/account'
import type { Address } from '#types/ids'
import { blockId, latest } from '../../../codecs/blockId.ts'
import { maxStorageValues, storageKeys } from '../../../codecs/storageKeys.ts'
import { address, anyJson, orNull, word } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { Json } from '../../../json.ts'
import { refTo } from '../../../reference/schemas.ts'
import { type Method, optionalParam, param, type ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { onState } from '../atBlock.ts'

const [quantityRef, hashRef] = [refTo('Quantity'), refTo('Hash')]

const accountResult: ResultCodec<Account> = {
  doc: 'nonce, balance, storageRoot, codeHash',
  schema: { type: 'object', properties: { nonce: quantityRef, balance: quantityRef, storageRoot: hashRef, codeHash: hashRef } },
  encode: ({ nonce, balance, storageRoot, codeHash }) => ({
    nonce: toQuantity(nonce),
    balance: toQuantity(balance),
    storageRoot,
    codeHash,
  }),
}

const block = optionalParam('block', blockId, latest, 'latest')
const nobody: Address = '0x00000000000000000000000000000000000000ff' as Address

const getAccount = ethMethod({
  name: 'eth_getAccount',
  doc: 'Account fields of the state trie after a block: nonce, balance, storage root, code hash.',
  params: [param('address', address), block],
  result: orNull(accountResult),
  cost: 'point-read',
  example: { params: [nobody, 'latest'], result: null },
  run: (context, of, at): Account | undefined => onState(context, at, (state) => state.account(of)),
})

const getAccountInfo = ethMethod({
  name: 'eth_getAccountInfo',
  doc: 'Balance, nonce and code of an account after a block; zeros and no code when it does not exist.',
  params: [param('address', address), block],
  result: anyJson('balance, nonce, code', {
    type: 'object',
    properties: { balance: quantityRef, nonce: quantityRef, code: refTo('Bytes') },
  }),
  cost: 'point-read',
  example: { params: [nobody, 'latest'], result: { balance: '0x0', nonce: '0x0', code: '0x' } },
  run: (context, of, at): Json =>
    onState(context, at, (state) => {
      const { balance = 0n, nonce = 0n } = state.account(of) ?? {}
      return { balance: toQuantity(balance), nonce: toQuantity(nonce), code: toHex(state.code(of)) }
    }),
})

const getStorageValues = ethMethod({
  name: 'eth_getStorageValues',
  doc: `Values of storage slots of several accounts after a block; at most ${maxStorageValues} accounts and as many slots.`,
  params: [param('keys', storageKeys), block],
  result: anyJson('{address: [32 bytes in hex]}, in the requested order', {
    type: 'object',
    additionalProperties: { type: 'array', items: hashRef },
  }),
  cost: 'block-read',
  example: { params: [{ [nobody]: ['0x0'] }, 'latest'], result: { [nobody]: [`0x${'0'.repeat(64)}`] } },
  run: (context, keys, at): Json =>
    onState(context, at, (state) =>
      Object.fromEntries(keys.map(({ account, slots }) => [account, slots.map((slot) => word.encode(state.slot(account, slot)))])),
    ),
})

export const accountMethods: readonly Method<EthContext>[] = [getStorageValues, getAccount, getAccountInfo]
