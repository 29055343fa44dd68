import { emptyBytes } from '#lib/bytes'
import type { Args, CallData } from '../kit/args.ts'
import { NativeRevert } from '../kit/ends.ts'
import { type FunctionTable, type NativeFunction, nativeFunction, selectorAt } from '../kit/functions.ts'
import { asFlag } from '../kit/results.ts'
import { textMappingSlot } from '../kit/slots.ts'
import { announcementIdAlreadyUsed, announcementInProgress, internalCallFailed, internalCallMalformed } from './errors.ts'
import { announced, announcementEnded } from './events.ts'
import { assetFields } from './fields.ts'
import type { TokenFrame } from './frame.ts'
import { operatorRole, requireRole } from './roles.ts'

/** Runs a call of a batch. @throws NativeRevert InternalCallFailed for every revert except a panic */
function runInternal(frame: TokenFrame, functions: FunctionTable<TokenFrame>, data: CallData): void {
  const { bytes, start, end } = data
  if (end - start < 4) throw internalCallMalformed(bytes.slice(start, end))
  if (selectorAt(bytes, start) === announceSelector) throw announcementInProgress()
  try {
    functions.call(frame, data)
  } catch (error) {
    if (error instanceof NativeRevert && error.reason !== 'panic') throw internalCallFailed(bytes.slice(start, end))
    throw error
  }
}

/** Runs calls of the token between two events, with the caller's rights and without a price for their call data. */
function announce(frame: TokenFrame, args: Args, functions: FunctionTable<TokenFrame>): Uint8Array {
  requireRole(frame, operatorRole)
  const { storage, host, account } = frame
  const id = args.bytes(1)
  const slot = textMappingSlot(id, assetFields.announcementIds)
  if (storage.readFlag(slot)) throw announcementIdAlreadyUsed(id)
  storage.writeFlag(slot, true)
  announced.emit(host, account, [frame.caller], id, args.bytes(2), args.bytes(3))
  for (let i = 0; i < args.count(0); i++) {
    host.interrupt()
    runInternal(frame, functions, args.blobData(0, i))
  }
  announcementEnded.emit(host, account, [], id)
  return emptyBytes
}

/** @param functionsOf the functions that a batch can call */
export function announceFunctions(functionsOf: (frame: TokenFrame) => FunctionTable<TokenFrame>): readonly NativeFunction<TokenFrame>[] {
  return [
    nativeFunction('announce(bytes[],string,string,string)', (frame: TokenFrame, args) => announce(frame, args, functionsOf(frame))),
    nativeFunction('isAnnouncementIdUsed(string)', ({ storage }: TokenFrame, args) =>
      asFlag(storage.readFlag(textMappingSlot(args.bytes(0), assetFields.announcementIds))),
    ),
  ]
}

const announceSelector = 0x595135dd
