import type { Account } from '#types/account'
import type { Address, Hash } from '#types/ids'
import type { WorldReads } from '#types/worldReads'
import { blockId, latest } from '../../../codecs/blockId.ts'
import { maxStorageValues, type StorageKeys, storageKeys } from '../../../codecs/storageKeys.ts'
import { address, orNull } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { type Method, optionalParam, param } from '../../../registry.ts'
import { accountInfoResult, accountResult, storageValuesResult } from '../../../results/account.ts'
import { ethMethod } from '../../define.ts'
import { onState } from '../atBlock.ts'

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
  result: accountInfoResult,
  cost: 'point-read',
  example: { params: [nobody, 'latest'], result: { balance: '0x0', nonce: '0x0', code: '0x' } },
  run: (context, of, at) => onState(context, at, (state) => ({ account: state.account(of), code: state.code(of) })),
})

const valuesOf = (state: WorldReads, of: Address, slots: readonly Hash[]): bigint[] => slots.map((slot) => state.slot(of, slot))

const getStorageValues = ethMethod({
  name: 'eth_getStorageValues',
  doc: `Values of storage slots of several accounts after a block; at most ${maxStorageValues} accounts and as many slots.`,
  params: [param('keys', storageKeys), block],
  result: storageValuesResult,
  cost: 'block-read',
  example: { params: [{ [nobody]: ['0x0'] }, 'latest'], result: { [nobody]: [`0x${'0'.repeat(64)}`] } },
  run: (context, keys: StorageKeys, at) =>
    onState(context, at, (state) => keys.map(({ account, slots }) => ({ account, values: valuesOf(state, account, slots) }))),
})

export const accountMethods: readonly Method<EthContext>[] = [getStorageValues, getAccount, getAccountInfo]
