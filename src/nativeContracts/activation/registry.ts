import { emptyBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import { activationRegistryWord } from '../addresses.ts'
import type { NativeHost } from '../host.ts'
import type { Args } from '../kit/args.ts'
import { contractError } from '../kit/ends.ts'
import { ContractEvent } from '../kit/events.ts'
import { FunctionTable, nativeFunction } from '../kit/functions.ts'
import { asFlag, asWord } from '../kit/results.ts'
import { fieldsOf } from '../kit/slots.ts'
import { Storage } from '../kit/storage.ts'
import { isEqual, isZero, newWord, type Word, wordOfBytes } from '../kit/word.ts'
import type { NativeRules } from '../rules.ts'

const fields = fieldsOf('base.activation_registry')
const features = fields.mapping(0)
const adminField = fields.word(1)

const feature = (name: string): Word => wordOfBytes(keccak256Text(name))
export const assetFeature = feature('base.b20_asset')
export const stablecoinFeature = feature('base.b20_stablecoin')
export const policyFeature = feature('base.policy_registry')

const unauthorized = contractError('Unauthorized(address)')
const alreadyActivated = contractError('AlreadyActivated(bytes32)')
const featureNotActivated = contractError('FeatureNotActivated(bytes32)')
const staticCallNotAllowed = contractError('StaticCallNotAllowed()')
const zeroAdminAddress = contractError('ZeroAdminAddress()')

const featureActivated = new ContractEvent('FeatureActivated(bytes32 indexed,address indexed)')
const featureDeactivated = new ContractEvent('FeatureDeactivated(bytes32 indexed,address indexed)')
const adminChanged = new ContractEvent('AdminChanged(address indexed,address indexed,address indexed)')

type Frame = { readonly host: NativeHost; readonly rules: NativeRules; readonly storage: Storage }

const frameOf = (host: NativeHost, rules: NativeRules): Frame => ({
  host,
  rules,
  storage: new Storage(host, host.account(activationRegistryWord), rules.clearsStaleText),
})

const slot = newWord()
const nobody = newWord()

/** Requires that a feature is activated. @throws NativeRevert FeatureNotActivated */
export function requireActivated(host: NativeHost, rules: NativeRules, name: Word): void {
  if (!isActivated(frameOf(host, rules), name)) throw featureNotActivated(name)
}

const isActivated = ({ storage }: Frame, name: Word): boolean => storage.readFlag(features.slot(slot, name))

/** Returns the admin: the stored one, or else the configured one, or zero. */
function admin({ rules, storage }: Frame): Word {
  if (rules.storesActivationAdmin) {
    const stored = storage.read(adminField)
    if (!isZero(stored)) return stored
  }
  return rules.activationAdmin ?? nobody
}

function requireAdmin(frame: Frame): Word {
  const { caller } = frame.host
  if (isZero(caller)) throw unauthorized(caller)
  const found = admin(frame)
  if (!isEqual(caller, found)) throw unauthorized(caller)
  return found
}

function requireNotStatic({ host }: Frame): void {
  if (host.isStatic) throw staticCallNotAllowed()
}

function activate(frame: Frame, args: Args): Uint8Array {
  const { host, storage } = frame
  const name = args.word(0)
  requireNotStatic(frame)
  requireAdmin(frame)
  if (isActivated(frame, name)) throw alreadyActivated(name)
  host.setMarker(storage.account)
  storage.writeFlag(features.slot(slot, name), true)
  featureActivated.emit(host, storage.account, [name, host.caller])
  return emptyBytes
}

function deactivate(frame: Frame, args: Args): Uint8Array {
  const { host, storage } = frame
  const name = args.word(0)
  requireNotStatic(frame)
  requireAdmin(frame)
  if (!isActivated(frame, name)) throw featureNotActivated(name)
  storage.writeFlag(features.slot(slot, name), false)
  featureDeactivated.emit(host, storage.account, [name, host.caller])
  return emptyBytes
}

function setAdmin(frame: Frame, args: Args): Uint8Array {
  const { host, storage } = frame
  const next = args.word(0)
  requireNotStatic(frame)
  if (isZero(next)) throw zeroAdminAddress()
  const previous = requireAdmin(frame)
  host.setMarker(storage.account)
  storage.write(adminField, next)
  adminChanged.emit(host, storage.account, [previous, next, host.caller])
  return emptyBytes
}

function checkActivated(frame: Frame, args: Args): Uint8Array {
  requireActivated(frame.host, frame.rules, args.word(0))
  return emptyBytes
}

const functions = [
  nativeFunction('isActivated(bytes32)', (frame: Frame, args) => asFlag(isActivated(frame, args.word(0)))),
  nativeFunction('checkActivated(bytes32)', checkActivated),
  nativeFunction('activate(bytes32)', activate),
  nativeFunction('deactivate(bytes32)', deactivate),
  nativeFunction('admin()', (frame: Frame) => asWord(admin(frame))),
]
const adminFunctions = [nativeFunction('setAdmin(address)', setAdmin)]

const tables = new WeakMap<NativeRules, FunctionTable<Frame>>()

function tableOf(rules: NativeRules): FunctionTable<Frame> {
  const known = tables.get(rules)
  if (known) return known
  const all = rules.storesActivationAdmin ? [...functions, ...adminFunctions] : functions
  const table = new FunctionTable<Frame>(rules, 'IActivationRegistryCalls', 0, all)
  tables.set(rules, table)
  return table
}

/** Runs a call of the activation registry, which gates creation of tokens and writes of the policy registry. */
export function runActivationRegistry(host: NativeHost, rules: NativeRules): Uint8Array {
  return tableOf(rules).call(frameOf(host, rules), host)
}
