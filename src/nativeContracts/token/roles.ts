import { emptyBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import type { Args } from '../kit/args.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asFlag, asWord } from '../kit/results.ts'
import { addNumber, isEqual, isZero, newWord, subtract, type Word, wordOf, wordOfBytes } from '../kit/word.ts'
import { badConfirmation, lastAdminCannotRenounce, notSoleAdmin, unauthorizedAccount } from './errors.ts'
import { lastAdminRenounced, roleAdminChanged, roleGranted, roleRevoked } from './events.ts'
import { tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'

const roleNamed = (name: string): Word => wordOfBytes(keccak256Text(name))

/** Administers the roles whose admin role is not set, and itself. */
export const defaultAdminRole = newWord()
export const mintRole = roleNamed('MINT_ROLE')
export const burnRole = roleNamed('BURN_ROLE')
export const burnBlockedRole = roleNamed('BURN_BLOCKED_ROLE')
export const pauseRole = roleNamed('PAUSE_ROLE')
export const unpauseRole = roleNamed('UNPAUSE_ROLE')
export const metadataRole = roleNamed('METADATA_ROLE')
export const operatorRole = roleNamed('OPERATOR_ROLE')
export const seizeRole = roleNamed('SEIZE_ROLE')

const slot = newWord()
const one = wordOf(1)

function hasRole({ storage }: TokenFrame, role: Word, account: Word): boolean {
  return storage.readFlag(tokenFields.roles.slot(slot, role, account))
}

/** Requires that the caller has a role, privileged or not. */
export function requireRoleAlways(frame: TokenFrame, role: Word): void {
  if (!hasRole(frame, role, frame.caller)) throw unauthorizedAccount(frame.caller, role)
}

/** Requires that the caller has a role; a privileged caller needs none. */
export function requireRole(frame: TokenFrame, role: Word): void {
  if (!frame.isPrivileged) requireRoleAlways(frame, role)
}

const adminCount = ({ storage }: TokenFrame): Word => storage.read(tokenFields.adminCount)
const roleAdmin = ({ storage }: TokenFrame, role: Word): Word => storage.read(tokenFields.roleAdmins.slot(slot, role))

/** Requires that the caller administers a role. A token without admins refuses every caller. */
function requireAdminOf(frame: TokenFrame, role: Word): void {
  if (frame.isPrivileged) return
  if (isZero(adminCount(frame))) throw unauthorizedAccount(frame.caller, defaultAdminRole)
  const admin = roleAdmin(frame, role)
  requireRoleAlways(frame, admin)
}

/** Gives a role; nothing happens when the account has it. */
export function addRole(frame: TokenFrame, role: Word, account: Word): void {
  const { storage } = frame
  if (hasRole(frame, role, account)) return
  storage.writeFlag(tokenFields.roles.slot(slot, role, account), true)
  if (isZero(role)) storage.write(tokenFields.adminCount, addNumber(newWord(), adminCount(frame), 1))
  roleGranted.emit(frame.host, frame.account, [role, account, frame.caller])
}

/** Takes a role; nothing happens when the account lacks it. */
function removeRole(frame: TokenFrame, role: Word, account: Word): void {
  const { storage } = frame
  if (!hasRole(frame, role, account)) return
  storage.writeFlag(tokenFields.roles.slot(slot, role, account), false)
  if (isZero(role)) {
    const count = adminCount(frame)
    subtract(count, count, one)
    storage.write(tokenFields.adminCount, count)
  }
  roleRevoked.emit(frame.host, frame.account, [role, account, frame.caller])
}

function requireOtherAdmin(frame: TokenFrame, role: Word, account: Word): void {
  if (isZero(role) && hasRole(frame, role, account) && isEqual(adminCount(frame), one)) throw lastAdminCannotRenounce()
}

function grantRole(frame: TokenFrame, args: Args): Uint8Array {
  const role = args.word(0)
  if (frame.isPrivileged && isZero(role)) adminCount(frame)
  requireAdminOf(frame, role)
  addRole(frame, role, args.word(1))
  return emptyBytes
}

function revokeRole(frame: TokenFrame, args: Args): Uint8Array {
  const [role, account] = [args.word(0), args.word(1)]
  requireAdminOf(frame, role)
  requireOtherAdmin(frame, role, account)
  removeRole(frame, role, account)
  return emptyBytes
}

function renounceRole(frame: TokenFrame, args: Args): Uint8Array {
  const [role, confirmation] = [args.word(0), args.word(1)]
  if (!isEqual(confirmation, frame.caller)) throw badConfirmation()
  requireOtherAdmin(frame, role, confirmation)
  removeRole(frame, role, confirmation)
  return emptyBytes
}

function renounceLastAdmin(frame: TokenFrame): Uint8Array {
  requireRoleAlways(frame, defaultAdminRole)
  if (!isEqual(adminCount(frame), one)) throw notSoleAdmin()
  removeRole(frame, defaultAdminRole, frame.caller)
  lastAdminRenounced.emit(frame.host, frame.account, [frame.caller])
  return emptyBytes
}

function setRoleAdmin(frame: TokenFrame, args: Args): Uint8Array {
  const [role, next] = [args.word(0), args.word(1)]
  const previous = roleAdmin(frame, role)
  if (!frame.isPrivileged) {
    if (isZero(adminCount(frame))) throw unauthorizedAccount(frame.caller, defaultAdminRole)
    requireRoleAlways(frame, previous)
  }
  frame.storage.write(tokenFields.roleAdmins.slot(slot, role), next)
  roleAdminChanged.emit(frame.host, frame.account, [role, previous, next])
  return emptyBytes
}

export const roleFunctions = [
  nativeFunction('grantRole(bytes32,address)', grantRole),
  nativeFunction('revokeRole(bytes32,address)', revokeRole),
  nativeFunction('renounceRole(bytes32,address)', renounceRole),
  nativeFunction('renounceLastAdmin()', renounceLastAdmin),
  nativeFunction('setRoleAdmin(bytes32,bytes32)', setRoleAdmin),
  nativeFunction('getRoleAdmin(bytes32)', (frame: TokenFrame, args) => asWord(roleAdmin(frame, args.word(0)))),
  nativeFunction('hasRole(bytes32,address)', (frame: TokenFrame, args) => asFlag(hasRole(frame, args.word(0), args.word(1)))),
  nativeFunction('DEFAULT_ADMIN_ROLE()', (_: TokenFrame) => asWord(defaultAdminRole)),
  nativeFunction('MINT_ROLE()', (_: TokenFrame) => asWord(mintRole)),
  nativeFunction('BURN_ROLE()', (_: TokenFrame) => asWord(burnRole)),
  nativeFunction('BURN_BLOCKED_ROLE()', (_: TokenFrame) => asWord(burnBlockedRole)),
  nativeFunction('PAUSE_ROLE()', (_: TokenFrame) => asWord(pauseRole)),
  nativeFunction('UNPAUSE_ROLE()', (_: TokenFrame) => asWord(unpauseRole)),
  nativeFunction('METADATA_ROLE()', (_: TokenFrame) => asWord(metadataRole)),
]

export const assetRoleFunctions = [nativeFunction('OPERATOR_ROLE()', (_: TokenFrame) => asWord(operatorRole))]
export const seizeRoleFunctions = [nativeFunction('SEIZE_ROLE()', (_: TokenFrame) => asWord(seizeRole))]
