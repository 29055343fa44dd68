import { emptyBytes } from '#lib/bytes'
import type { Args } from '../kit/args.ts'
import { nativeFunction } from '../kit/functions.ts'
import { asText } from '../kit/results.ts'
import { textMappingSlot } from '../kit/slots.ts'
import type { Word } from '../kit/word.ts'
import { invalidMetadataKey } from './errors.ts'
import { contractUriUpdated, domainChanged, extraMetadataUpdated, nameUpdated, symbolUpdated } from './events.ts'
import { assetFields, tokenFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { metadataRole, requireRole } from './roles.ts'

function updateText(frame: TokenFrame, args: Args, slot: Word): Uint8Array {
  requireRole(frame, metadataRole)
  const text = args.bytes(0)
  frame.storage.writeText(slot, text)
  return text
}

/** The name is part of the domain of permits. */
function updateName(frame: TokenFrame, args: Args): Uint8Array {
  const name = updateText(frame, args, tokenFields.name)
  nameUpdated.emit(frame.host, frame.account, [frame.caller], name)
  domainChanged.emit(frame.host, frame.account, [])
  return emptyBytes
}

function updateSymbol(frame: TokenFrame, args: Args): Uint8Array {
  symbolUpdated.emit(frame.host, frame.account, [frame.caller], updateText(frame, args, tokenFields.symbol))
  return emptyBytes
}

function updateContractUri(frame: TokenFrame, args: Args): Uint8Array {
  updateText(frame, args, tokenFields.contractUri)
  contractUriUpdated.emit(frame.host, frame.account, [])
  return emptyBytes
}

function updateExtraMetadata(frame: TokenFrame, args: Args): Uint8Array {
  requireRole(frame, metadataRole)
  const [key, value] = [args.bytes(0), args.bytes(1)]
  if (key.length === 0) throw invalidMetadataKey()
  const slot = textMappingSlot(key, assetFields.extraMetadata)
  if (value.length === 0) frame.storage.deleteText(slot)
  else frame.storage.writeText(slot, value)
  extraMetadataUpdated.emit(frame.host, frame.account, [], key, value)
  return emptyBytes
}

export const metadataFunctions = [
  nativeFunction('name()', ({ storage }: TokenFrame) => asText(storage.readText(tokenFields.name))),
  nativeFunction('symbol()', ({ storage }: TokenFrame) => asText(storage.readText(tokenFields.symbol))),
  nativeFunction('contractURI()', ({ storage }: TokenFrame) => asText(storage.readText(tokenFields.contractUri))),
  nativeFunction('updateName(string)', updateName),
  nativeFunction('updateSymbol(string)', updateSymbol),
  nativeFunction('updateContractURI(string)', updateContractUri),
]

export const extraMetadataFunctions = [
  nativeFunction('extraMetadata(string)', ({ storage }: TokenFrame, args) =>
    asText(storage.readText(textMappingSlot(args.bytes(0), assetFields.extraMetadata))),
  ),
  nativeFunction('updateExtraMetadata(string,string)', updateExtraMetadata),
]
