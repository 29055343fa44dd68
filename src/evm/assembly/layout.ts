/**
 * Where everything lies in the interpreter's linear memory: read by the AssemblyScript sources and by the host, so only plain numbers stand here.
 * Regions are address space, not memory: what is not touched takes none. Words are four u64 limbs, least significant first; byte strings
 * (addresses, hashes, code, EVM memory) keep their order. Offsets of entries are in bytes.
 */

// ---- regions
/** Static data of the module begins here (asc --memoryBase); below lies the context. */
export const staticBase = 0x2000
/** Exchange area of host and interpreter. */
export const ioBase = 0x10000
/** One entry of `frameBytes` for each depth 0 … 1,024. */
export const framesBase = 0x20000
/** Operand stacks, packed: the next frame's begins where the present one's ends. */
export const stacksBase = 0x100000
export const accountsBase = 0x2200000
export const accountsEnd = 0x8200000
/** u32 pointers to entries, open addressing */
export const accountIndexBase = 0x8200000
export const accountIndexMaxBytes = 0x400000
export const slotIndexBase = 0x8600000
export const slotIndexMaxBytes = 0x1000000
export const transientIndexBase = 0x9600000
export const transientIndexMaxBytes = 0x2000000
export const slotsBase = 0xb600000
export const slotsEnd = 0x15600000
export const undoBase = 0x15600000
export const undoEnd = 0x25600000
export const transientBase = 0x25600000
export const transientEnd = 0x3d600000
export const logsBase = 0x3d600000
export const logsEnd = 0x45600000
/** Return data of the last call of the running frame, or the output of a message that ended. */
export const returnBase = 0x45600000
export const returnEnd = 0x4d600000
/** Code table and arena: see code.ts. */
export const codeTableBase = 0x4d600000
export const codeTableEnd = 0x4de00000
export const codeBase = 0x4de00000
export const codeEnd = 0x73e00000
/** Steps of the traced build. */
export const stepsBase = 0x73e00000
export const stepsEnd = 0x74e00000
/** Input of the outermost message, put there by the host. */
export const inputBase = 0x74e00000
export const inputEnd = 0x78e00000
/** EVM memories, stacked; the last region, which grows. Initial size of the whole: up to here. */
export const memoryBase = 0x78e00000

// ---- context: single values at fixed addresses below `staticBase`
/** u32, one of the forks of chain/evmRules in order: 0 paris … 4 osaka */
export const ctxFork = 0x400
/** u32, 1: a creation goes on over old storage (rules.creationOverStorage) */
export const ctxCreationOverStorage = 0x404
/** u32, number of the transaction in the session, from 1 */
export const ctxTransaction = 0x408
/** u32, how many frames there are: those below the running one wait */
export const ctxFrames = 0x40c
/** i64, EIP-3529's counter */
export const ctxRefund = 0x410
/** u64, gas of the running slice; and what is beyond it */
export const ctxGas = 0x418
export const ctxReserve = 0x420
/** u32: what an exit is about */
export const ctxExitEntry = 0x428
export const ctxExitFrom = 0x42c
export const ctxExitSize = 0x430
export const ctxExitId = 0x434
/** u32: end of the return data at `returnBase` */
export const ctxReturnSize = 0x438
/** u32, one of `ended…`: how a message ended */
export const ctxEnded = 0x43c
/** u32, entry of the account that a message has created */
export const ctxCreated = 0x440
/** u32, end of the log records */
export const ctxLogsTop = 0x444
/** u32, end of the undo records */
export const ctxUndoTop = 0x448
export const ctxAccountsTop = 0x44c
export const ctxSlotsTop = 0x450
export const ctxTransientTop = 0x454
export const ctxCodeTop = 0x458
/** u32, number of blob hashes at `ctxBlobHashes` */
export const ctxBlobHashCount = 0x45c
/** u64 each: secrets of the hash tables */
export const ctxSeed = 0x460
/** u32, highest address used of stacks and memory since the instance was made: what is resident */
export const ctxStacksHigh = 0x470
export const ctxMemoryHigh = 0x474
/** u32, soft bound of the code arena in bytes */
export const ctxCodeSoftBytes = 0x478
/** u32, 1 when steps, 2 when calls are recorded, 3 both (traced build) */
export const ctxTraceMode = 0x47c
/** u32, end of the step records */
export const ctxStepsTop = 0x480
/** bitmap of 0x400 bits: precompiles at addresses 0 … 0x3ff */
export const ctxPrecompiles = 0x500
/** words */
export const ctxChainId = 0x600
export const ctxNumber = 0x620
export const ctxTimestamp = 0x640
export const ctxBeneficiary = 0x660
export const ctxPrevRandao = 0x680
export const ctxGasLimit = 0x6a0
export const ctxBaseFee = 0x6c0
export const ctxBlobBaseFee = 0x6e0
export const ctxOrigin = 0x700
export const ctxGasPrice = 0x720
/** the outermost message: words of caller, to and value; u64 gas; u32 input size; u32 1 for a creation */
export const ctxMessageCaller = 0x740
export const ctxMessageTo = 0x760
export const ctxMessageValue = 0x780
export const ctxMessageGas = 0x7a0
export const ctxMessageInputSize = 0x7a8
export const ctxMessageIsCreate = 0x7ac
/** words, 64 of them at most */
export const ctxBlobHashes = 0x800

/** Gas between two exits for the caller's pace. */
export const gasOfSlice = 1_000_000

// ---- account entry
/** limbs of the address: u64, u64, u32 */
export const accountAddress = 0
/** u32 bits: see `account…Flag` */
export const accountFlags = 20
/** keccak of the address, set when the entry is made */
export const accountKey = 24
export const accountNonce = 56
/** word */
export const accountBalance = 64
/** bytes */
export const accountCodeHash = 96
/** u32 numbers of transactions; 0 is never */
export const accountWarmIn = 128
export const accountTouchedIn = 132
export const accountCreatedIn = 136
export const accountDestroyedIn = 140
/** u32, entry in the code table, good while its generation is `accountCodeGeneration` (u32) */
export const accountCode = 144
export const accountCodeGeneration = 148
/** u32, first slot entry of the account, linked by `slotNext` */
export const accountSlots = 152
/** u32, index of the entry, from 0 */
export const accountNumber = 156
/** u32, the account that was changed before this one, 0 at the end; only with `accountDirtyFlag` */
export const accountNextDirty = 160
export const accountBytes = 176

/** What the view says is in the entry. */
export const accountLoadedFlag = 1
export const accountExistsFlag = 2
/** The view has the account. */
export const accountBeforeFlag = 4
/** The view has slots of it (its storage root is not that of the empty trie). */
export const accountStorageFlag = 8
/** The view's slots do not count any more. */
export const accountWipedFlag = 16
/** Balance, nonce, code or existence were changed at some time in the session. */
export const accountDirtyFlag = 32

// ---- slot entry
/** word */
export const slotNumber = 0
export const slotValue = 32
/** as of the view, zero after a wipe */
export const slotBefore = 64
/** at the start of transaction `slotSeenIn` (EIP-2200) */
export const slotOriginal = 96
/** keccak of the number, set when the view is asked */
export const slotKey = 128
/** u32 */
export const slotAccount = 160
export const slotNext = 164
export const slotSeenIn = 168
export const slotWarmIn = 172
/** u32, 1: the view has been asked */
export const slotLoaded = 176
/** u32, the slot that was set before this one, 1 at the end; 0: was never set */
export const slotDirty = 180
export const slotBytes = 184

// ---- log record: then the topics (bytes, 32 each) and the data, padded to eight bytes
export const logAccount = 0
export const logTopics = 4
export const logDataBytes = 8
export const logHeadBytes = 16

// ---- exits of `run`: why the interpreter wants the host
export const exitEnded = 0
/** `ctxExitEntry`: an account entry that is not loaded */
export const exitAccount = 1
/** `ctxExitEntry`: a slot entry that is not loaded */
export const exitSlot = 2
/** `ctxExitEntry`: an account entry whose code is wanted in the arena */
export const exitCode = 3
/** `ctxExitId`: address of the precompile; `ctxExitFrom`, `ctxExitSize`: its input; gas: `ctxGas` + `ctxReserve` of the call */
export const exitPrecompile = 4
/** `ctxExitId`: number of the block, asked only when in reach */
export const exitBlockHash = 5
/** a slice of gas is used up */
export const exitFuel = 6
/** `ctxExitEntry`: account whose code is now `ctxExitSize` bytes at `ctxExitFrom`; its hash is in the entry */
export const exitNewCode = 7
/** the step records are to be read (traced build) */
export const exitSteps = 8
/** a call or creation begins or ends (traced build) */
export const exitEnter = 9
export const exitLeave = 10
/** a region is full: no block can need that much */
export const exitTooLarge = 11

// ---- how a message or a frame ended
export const endedSuccess = 0
export const endedRevert = 1
/** halts: all gas is gone, all is undone */
export const endedOutOfGas = 2
export const endedUnderflow = 3
export const endedOverflow = 4
export const endedInvalidJump = 5
export const endedInvalidOpcode = 6
export const endedWriteProtection = 7
export const endedCallDepth = 8
export const endedInsufficientBalance = 9
export const endedCollision = 10
export const endedInvalidCode = 11
export const endedCodeSize = 12
export const endedInitcodeSize = 13
export const endedReturnDataBounds = 14
export const endedNonceOverflow = 15
export const endedPrecompileFailure = 16

// ---- transient entry
export const transientNumber = 0
export const transientValue = 32
export const transientAccount = 64
export const transientEntryBytes = 72
