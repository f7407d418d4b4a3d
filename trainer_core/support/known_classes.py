"""Model classes that the libraries know. Written by ``python -m scripts.write_known_classes``."""

LIBRARIES = ("transformers 5.19.0", "vLLM 0.32.0")
"""Libraries of learner and engine, as they were asked."""
IN_BOTH = frozenset(
    """
    AXK1ForCausalLM AXK2ForCausalLM AfmoeForCausalLM ApertusForCausalLM ArceeForCausalLM AriaTextForCausalLM
    BambaForCausalLM BioGptForCausalLM BitNetForCausalLM BloomForCausalLM BltForCausalLM CTRLLMHeadModel
    Cohere2ForCausalLM Cohere2MoeForCausalLM CohereCompassForCausalLM CohereForCausalLM CwmForCausalLM DbrxForCausalLM
    DeepseekV2ForCausalLM DeepseekV32ForCausalLM DeepseekV3ForCausalLM DeepseekV4ForCausalLM DiffLlamaForCausalLM
    DogeForCausalLM Dots1ForCausalLM Emu3ForCausalLM Ernie4_5ForCausalLM Ernie4_5_MoeForCausalLM Exaone4ForCausalLM
    ExaoneMoeForCausalLM FalconForCausalLM FalconH1ForCausalLM FalconMambaForCausalLM FlexOlmoForCausalLM
    FuyuForCausalLM GPT2LMHeadModel GPTBigCodeForCausalLM GPTJForCausalLM GPTNeoXForCausalLM Gemma2ForCausalLM
    Gemma3ForCausalLM Gemma3ForConditionalGeneration Gemma3nForCausalLM Gemma3nForConditionalGeneration
    Gemma4AssistantForCausalLM Gemma4ForCausalLM Gemma4ForConditionalGeneration Gemma4UnifiedAssistantForCausalLM
    Gemma4UnifiedForCausalLM Gemma4UnifiedForConditionalGeneration GemmaForCausalLM GitForCausalLM Glm4ForCausalLM
    Glm4MoeForCausalLM Glm4MoeLiteForCausalLM GlmForCausalLM GlmMoeDsaForCausalLM GotOcr2ForConditionalGeneration
    GptOssForCausalLM GraniteForCausalLM GraniteMoeForCausalLM GraniteMoeHybridForCausalLM GraniteMoeSWAForCausalLM
    GraniteMoeSharedForCausalLM GraniteSWAForCausalLM HYV3ForCausalLM HYV4ForCausalLM HeliumForCausalLM
    HrmTextForCausalLM HunYuanDenseV1ForCausalLM HunYuanMoEV1ForCausalLM HyperCLOVAXForCausalLM InklingForCausalLM
    Jais2ForCausalLM JambaForCausalLM JetMoeForCausalLM KimiLinearForCausalLM LagunaForCausalLM Lfm2ForCausalLM
    Lfm2MoeForCausalLM Llama4ForCausalLM LlamaForCausalLM LongcatFlashForCausalLM Mamba2ForCausalLM MambaForCausalLM
    MellumForCausalLM MiMoV2FlashForCausalLM MiniCPM3ForCausalLM MiniMaxForCausalLM MiniMaxM2ForCausalLM
    MiniMaxM3VLForCausalLM Ministral3ForCausalLM MinistralForCausalLM MistralForCausalLM MixtralForCausalLM
    MllamaForCausalLM ModernBertDecoderForCausalLM MoshiForCausalLM MusicgenForCausalLM MusicgenMelodyForCausalLM
    NanoChatForCausalLM NemotronForCausalLM NemotronHForCausalLM OPTForCausalLM Olmo2ForCausalLM Olmo3ForCausalLM
    OlmoForCausalLM OlmoHybridForCausalLM OlmoeForCausalLM PersimmonForCausalLM Phi3ForCausalLM
    Phi4MultimodalForCausalLM PhiForCausalLM PhimoeForCausalLM Qwen2ForCausalLM Qwen2MoeForCausalLM Qwen3ForCausalLM
    Qwen3MoeForCausalLM Qwen3NextForCausalLM Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM Qwen4ExpForCausalLM
    RecurrentGemmaForCausalLM SeedOssForCausalLM SmolLM3ForCausalLM SolarOpenForCausalLM StableLmForCausalLM
    Starcoder2ForCausalLM VaultGemmaForCausalLM YoutuForCausalLM Zamba2ForCausalLM ZambaForCausalLM ZayaForCausalLM
    xLSTMForCausalLM
    """.split()  # noqa: SIM905 - a name a line would fill pages
)
"""Classes that transformers and vLLM can load, be it by transformers' own code."""
LEARNER_ONLY = frozenset(
    """
    BartForCausalLM BertGenerationDecoder BertLMHeadModel BigBirdForCausalLM BigBirdPegasusForCausalLM
    BlenderbotForCausalLM BlenderbotSmallForCausalLM CamembertForCausalLM CodeGenForCausalLM CpmAntForCausalLM
    Data2VecTextForCausalLM ElectraForCausalLM ErnieForCausalLM GPTNeoForCausalLM GPTNeoXJapaneseForCausalLM
    MBartForCausalLM MarianForCausalLM MegatronBertForCausalLM MptForCausalLM MvpForCausalLM OpenAIGPTLMHeadModel
    PLBartForCausalLM PegasusForCausalLM ProphetNetForCausalLM ReformerModelWithLMHead RemBertForCausalLM
    RoCBertForCausalLM RoFormerForCausalLM RobertaForCausalLM RobertaPreLayerNormForCausalLM RwkvForCausalLM
    TrOCRForCausalLM WhisperForCausalLM XGLMForCausalLM XLMRobertaForCausalLM XLMRobertaXLForCausalLM XLMWithLMHeadModel
    XLNetLMHeadModel XmodForCausalLM
    """.split()  # noqa: SIM905 - a name a line would fill pages
)
"""Classes of language models that transformers knows and vLLM cannot load."""
ENGINE_ONLY = frozenset(
    """
    BailingMoeForCausalLM BailingMoeV2ForCausalLM BailingMoeV2_5ForCausalLM BailingMoeV3ForCausalLM
    ChatGLMForConditionalGeneration ChatGLMModel DeciLMForCausalLM DeepseekForCausalLM Emu3ForConditionalGeneration
    ExaoneForCausalLM ExaoneMoEForCausalLM Glm5NextForCausalLM HCXVisionV2ForCausalLM HunYuanVLForConditionalGeneration
    IQuestCoderForCausalLM IQuestLoopCoderForCausalLM InklingForConditionalGeneration InternLM2ForCausalLM
    InternLM3ForCausalLM K2HorizonForCausalLM LLaMAForCausalLM LongcatFlashNgramForCausalLM MiMoForCausalLM
    MiMoV2ForCausalLM MiniCPMForCausalLM MiniMaxM3SparseForCausalLM MistralLarge3ForCausalLM MuseGlimmerForCausalLM
    NanbeigeForCausalLM NemotronHPuzzleForCausalLM OrionForCausalLM PanguEmbeddedForCausalLM PanguProMoEV2ForCausalLM
    PanguUltraMoEForCausalLM Param2MoEForCausalLM PhiMoEForCausalLM Plamo3ForCausalLM Rnj1ForCausalLM
    SarvamMLAForCausalLM SarvamMoEForCausalLM SolarForCausalLM Step1ForCausalLM Step3TextForCausalLM Step3p5ForCausalLM
    TeleChat2ForCausalLM TeleChat3ForCausalLM TeleFLMForCausalLM VibeVoiceAsrForConditionalGeneration
    """.split()  # noqa: SIM905 - a name a line would fill pages
)
"""Classes of language models that vLLM knows and transformers does not."""
MODEL_TYPES = frozenset(
    """
    afmoe apertus arcee aria_text axk1 axk2 bamba bart bert bert-generation big_bird bigbird_pegasus biogpt bitnet
    blenderbot blenderbot-small bloom blt camembert codegen cohere cohere2 cohere2_moe cohere_compass_text cpmant ctrl
    cwm data2vec-text dbrx deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 diffllama doge dots1 electra emu3 ernie
    ernie4_5 ernie4_5_moe exaone4 exaone_moe falcon falcon_h1 falcon_mamba flex_olmo fuyu gemma gemma2 gemma3
    gemma3_text gemma3n gemma3n_text gemma4 gemma4_assistant gemma4_text gemma4_unified gemma4_unified_assistant
    gemma4_unified_text git glm glm4 glm4_moe glm4_moe_lite glm_moe_dsa got_ocr2 gpt-sw3 gpt2 gpt_bigcode gpt_neo
    gpt_neox gpt_neox_japanese gpt_oss gptj granite granite_swa granitemoe granitemoe_swa granitemoehybrid
    granitemoeshared helium hrm_text hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hyperclovax inkling_text jais2 jamba
    jetmoe kimi_linear laguna lfm2 lfm2_moe llama llama4 llama4_text longcat_flash mamba mamba2 marian mbart
    megatron-bert mellum mimo_v2_flash minicpm3 minimax minimax_m2 minimax_m3_vl_text ministral ministral3 mistral
    mixtral mllama modernbert-decoder moshi mpt musicgen musicgen_melody mvp nanochat nemotron nemotron_h olmo olmo2
    olmo3 olmo_hybrid olmoe openai-gpt opt pegasus persimmon phi phi3 phi4_multimodal phimoe plbart prophetnet qwen2
    qwen2_moe qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_moe qwen3_next qwen4_exp qwen4_exp_text
    recurrent_gemma reformer rembert roberta roberta-prelayernorm roc_bert roformer rwkv seed_oss smollm3 solar_open
    stablelm starcoder2 trocr vaultgemma whisper xglm xlm xlm-roberta xlm-roberta-xl xlnet xlstm xmod youtu zamba zamba2
    zaya
    """.split()  # noqa: SIM905 - a name a line would fill pages
)
"""Values of ``model_type`` of language models that transformers knows."""
