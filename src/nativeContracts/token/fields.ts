import { fieldsOf } from '../kit/slots.ts'

const common = fieldsOf('base.b20')
const asset = fieldsOf('base.b20.asset')
const stablecoin = fieldsOf('base.b20.stablecoin')

/** Storage of every token. */
export const tokenFields = {
  name: common.word(0),
  symbol: common.word(1),
  contractUri: common.word(2),
  totalSupply: common.word(3),
  balances: common.mapping(4),
  /** owner → spender → amount. */
  allowances: common.nested(5),
  /** role → account → flag. */
  roles: common.nested(6),
  roleAdmins: common.mapping(7),
  adminCount: common.word(8),
  /** Ids of the policies of sender, receiver and executor: u64 each, from the lowest bits. */
  transferPolicies: common.word(9),
  /** Id of the mint receiver's policy in the lowest u64. */
  mintPolicies: common.word(10),
  /** One bit for each paused feature. */
  paused: common.word(11),
  supplyCap: common.word(12),
  nonces: common.mapping(13),
  /** Ids of the policies of exempt holders and of receivers of seized tokens. */
  seizePolicies: common.word(14),
}

/** Storage of assets. */
export const assetFields = {
  decimals: asset.word(0),
  /** Zero means one. */
  multiplier: asset.word(1),
  /** text → flag. */
  announcementIds: asset.word(2),
  /** text → text. */
  extraMetadata: asset.word(3),
  /** Scheduled multiplier in the lowest 128 bits, its time in the next u64; zero time: none. */
  scheduledMultiplier: asset.word(4),
}

export const stablecoinFields = { currency: stablecoin.word(0) }
